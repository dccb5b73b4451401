//! A server that sends exactly the bytes it is told, in exactly the chunks it is told.

use std::net::Ipv4Addr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// Serves `chunks` as the body of one response and closes the connection. Returns the base URL.
pub(crate) async fn serve(head: &'static str, chunks: Vec<Vec<u8>>) -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        socket.set_nodelay(true).unwrap();
        let mut request = vec![0; 64 * 1024];
        let mut length = 0;
        while !request[..length].ends_with(b"}") {
            length += socket.read(&mut request[length..]).await.unwrap();
        }
        socket.write_all(head.as_bytes()).await.unwrap();
        for chunk in chunks {
            socket.write_all(&chunk).await.unwrap();
            tokio::task::yield_now().await;
        }
    });
    format!("http://{address}/v1")
}
