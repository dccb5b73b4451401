//! Builds Chromium's arguments: all traffic goes through the proxy, and everything unneeded is off.

use std::path::Path;

/// Holds what the arguments depend on.
pub(crate) struct StartOptions<'a> {
    pub(crate) profile: &'a Path,
    pub(crate) proxy_port: u16,
    pub(crate) headless: bool,
    pub(crate) without_sandbox: bool,
}

/// Turns off the parts of Chromium that connect by themselves, or do what was not asked for.
const FEATURES_OFF: &str = "--disable-features=AutofillServerCommunication,CertificateTransparencyComponentUpdater,\
    DialMediaRouteProvider,GlobalMediaControls,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,\
    InterestFeedContentSuggestions,MediaRouter,NetworkTimeServiceQuerying,OptimizationHints,\
    OptimizationGuideModelDownloading,OptimizationTargetPrediction,PrivacySandboxSettings4,\
    SegmentationPlatform,Translate,WebRtcHideLocalIpsWithMdns";

/// Returns the arguments, without the program.
pub(crate) fn build_arguments(start: &StartOptions<'_>) -> Vec<String> {
    let mut arguments: Vec<String> = [
        "--remote-debugging-pipe",
        // Every connection goes through the proxy, loopback included, and names are resolved there:
        // Chromium itself resolves nothing.
        "--proxy-bypass-list=<-loopback>",
        "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
        "--disable-quic",
        "--webrtc-ip-handling-policy=disable_non_proxied_udp",
        "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
        "--dns-prefetch-disable",
        // Chromium's own traffic is off.
        "--disable-background-networking",
        "--disable-component-update",
        "--component-updater=url-source=http://updates.lango.invalid/",
        "--gaia-url=http://accounts.lango.invalid/",
        "--variations-server-url=http://variations.lango.invalid/",
        "--disable-client-side-phishing-detection",
        "--disable-domain-reliability",
        "--disable-sync",
        "--disable-breakpad",
        "--disable-crash-reporter",
        "--no-pings",
        "--metrics-recording-only",
        FEATURES_OFF,
        // Nothing waits for user input.
        "--no-first-run",
        "--no-default-browser-check",
        "--disable-default-apps",
        "--disable-extensions",
        "--disable-component-extensions-with-background-pages",
        "--disable-search-engine-choice-screen",
        "--deny-permission-prompts",
        "--disable-notifications",
        "--disable-prompt-on-repost",
        "--password-store=basic",
        "--use-mock-keychain",
        "--mute-audio",
        // Sites are isolated from each other, and small.
        "--site-per-process",
        "--disable-back-forward-cache",
        "--disk-cache-size=67108864",
        "--js-flags=--max-old-space-size=1024",
        "--disable-dev-shm-usage",
        "--disable-gpu",
        "--window-size=1280,900",
    ]
    .map(str::to_owned)
    .into();
    arguments.push(format!("--proxy-server=http://127.0.0.1:{}", start.proxy_port));
    arguments.push(format!("--user-data-dir={}", start.profile.display()));
    if start.headless {
        arguments.push("--headless=new".to_owned());
    }
    if start.without_sandbox {
        arguments.push("--no-sandbox".to_owned());
    }
    arguments.push("about:blank".to_owned());
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_goes_round_the_proxy_and_no_port_is_opened() {
        let profile = Path::new("/tmp/p");
        let of = |without_sandbox| {
            build_arguments(&StartOptions {
                profile,
                proxy_port: 99,
                headless: true,
                without_sandbox,
            })
        };
        let given = of(false);
        assert!(given.iter().any(|a| a == "--proxy-server=http://127.0.0.1:99"), "{given:?}");
        assert!(given.iter().any(|a| a == "--proxy-bypass-list=<-loopback>"), "{given:?}");
        assert!(!given.iter().any(|a| a.starts_with("--remote-debugging-port")), "{given:?}");
        assert!(!given.iter().any(|a| a == "--no-sandbox"), "{given:?}");
        assert!(of(true).iter().any(|a| a == "--no-sandbox"));
    }
}
