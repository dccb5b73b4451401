//! Lists the phrases that identify small talk.

use super::kind::Language;

/// Holds phrases of one kind, in lower case and without punctuation, with `|` between them.
pub(super) struct Phrases {
    /// The text is this and nothing else.
    pub(super) whole: &'static str,
    /// The text has this in it.
    pub(super) anywhere: &'static str,
    /// The text begins with this.
    pub(super) first: &'static str,
}

const fn anywhere(anywhere: &'static str) -> Phrases {
    Phrases { whole: "", anywhere, first: "" }
}

const fn first(first: &'static str) -> Phrases {
    Phrases { whole: "", anywhere: "", first }
}

pub(super) static ABILITIES: Phrases = Phrases {
    whole: "help|help me|what now",
    anywhere: "what can you do|what do you do|what can you help|how can you help|\
            what are you able to|what are your abilities|your capabilities|what can i ask|\
            what are you good at|what are you for|what else can you|was kannst du|\
            que peux tu faire|qué puedes hacer|que puedes hacer",
    first: "",
};

pub(super) static IDENTITY: Phrases = anywhere(
    "who are you|what are you|your name|whats your name|what should i call you|\
            are you a robot|are you a bot|are you a human|are you human|are you real|\
            are you an ai|are you ai|are you a person|are you chatgpt|are you conscious|\
            are you alive|who made you|who built you|who created you|what model are you|\
            which model are you|are you a computer|are you a machine|how old are you|\
            where do you live|wer bist du|qui es tu|quién eres|quien eres|chi sei",
);

pub(super) static WELLBEING: Phrases = anywhere(
    "how are you|how are things|how is it going|hows it going|how do you do|\
            how have you been|hows life|hows your day|how is your day|whats up|what is up|\
            how do you feel|are you ok|are you okay|are you well|you alright|wie gehts|\
            wie geht es|comment ça va|comment ca va|ça va|qué tal|que tal|cómo estás|\
            como estas|come stai|tudo bem",
);

pub(super) static JOKE: Phrases = anywhere(
    "joke|jokes|make me laugh|a game|knock knock|worst pun|cheering up|sing me|something funny|riddle|a pun|fun fact|entertain me",
);

pub(super) static WRITING: Phrases = Phrases {
    whole: "",
    anywhere: "write me|write a|write an|a poem|a haiku|an essay|a limerick|a song|in japanese|in french|in german|in spanish|in italian|the lyrics|\
            tell me a story|translate|translation|how do you say|how do i say|rephrase|\
            paraphrase|proofread|another word for|synonym for|make this sound|come up with|\
            ideas for",
    first: "write|compose|rewrite|draft|brainstorm|suggest",
};

pub(super) static OPINION: Phrases = anywhere(
    "what do you think|what do you reckon|what would you do|your opinion|do you like|\
            do you love|do you prefer|do you enjoy|do you believe|do you think|do you ever|\
            do you dream|do you get|do you mind|your favourite|your favorite|would you rather|\
            would you say|should i|can you feel|do you have feelings|do you want|do you agree|\
            dont you think|are you happy|are you sad|are you bored|are you tired",
);

pub(super) static THANKS: &[(Phrases, Language)] = &[
    (
        anywhere(
            "thanks|thank you|thank u|thankyou|thx|ty|cheers|much appreciated|appreciate it|\
            appreciate that|appreciate the|appreciated|ta|grateful",
        ),
        Language::English,
    ),
    (anywhere("danke|dankeschön|vielen dank"), Language::German),
    (anywhere("merci"), Language::French),
    (anywhere("gracias"), Language::Spanish),
    (anywhere("grazie"), Language::Italian),
    (anywhere("obrigado|obrigada"), Language::Portuguese),
];

pub(super) static FAREWELL: Phrases = anywhere(
    "bye|goodbye|good bye|see you|see ya|cya|good night|night night|going to bed|catch you later|brb|thats all for now|goodnight|have a good one|\
            have a nice day|have a good day|talk tomorrow|talk later|talk soon|until tomorrow|\
            until next time|take care|im off|i am off|farewell|so long|signing off|tschüss|\
            auf wiedersehen|au revoir|adiós|adios|hasta luego|arrivederci|tchau",
);

pub(super) static COMPLAINT: Phrases = anywhere(
    "you are stupid|misunderstood|rubbish answer|damn it|youre stupid|you are useless|youre useless|you are dumb|youre dumb|\
            you are bad|youre bad|you are wrong|youre wrong|you suck|i hate you|hate you|\
            you are annoying|youre annoying|you are slow|youre slow|this sucks|shut up|\
            not helpful|you dont understand|you do not understand|thats wrong|that is wrong|\
            thats not what i|that is not what i|bad bot|stupid bot|for crying out loud|\
            this is ridiculous|terrible answer",
);

pub(super) static COMPLIMENT: Phrases = Phrases {
    whole: "perfect|brilliant|excellent|amazing|awesome|great|nice|wow|lovely",
    anywhere: "good job|youre funny|you are funny|you look nice|i owe you|worked first time|congrats|great job|nice job|well done|good work|great work|nice work|good bot|\
            nice one|you are great|youre great|you are awesome|youre awesome|you are amazing|\
            youre amazing|you are the best|youre the best|you are brilliant|youre brilliant|\
            you are smart|youre smart|you are clever|youre clever|you are helpful|\
            youre helpful|i love you|love you|you rock|youre a star|you are a star|\
            youre a lifesaver|you saved|impressive|exactly what i wanted|that was quick|\
            that was fast",
    first: "",
};

pub(super) static JOY: Phrases = anywhere(
    "good news|hooray|congratulate me|finally passed|great news|i passed|i got the job|i won|we won|im so happy|\
            i am so happy|im happy|i am happy|im excited|i am excited|so excited|great day|\
            best day|lovely day|its my birthday|im in a good mood",
);

pub(super) static MOOD: Phrases = anywhere(
    "im tired|nervous|ugh|hurts|too hot|too cold|feeling lazy|i am tired|im so tired|i am so tired|so tired|exhausted|im bored|\
            i am bored|so bored|im sad|i am sad|so sad|feeling down|a bit down|feeling low|\
            feel low|feel sad|feeling sad|im lonely|i am lonely|lonely|im stressed|\
            i am stressed|stressed|im angry|i am angry|frustrated|annoyed|im sick|i am sick|\
            bad day|rough day|hard day|long day|dreadful day|terrible day|awful day|\
            what a day|what a week|cant sleep|im worried|i am worried|anxious|fed up|\
            heartbroken|im hungry|i am hungry|hungover",
);

pub(super) static KNOWLEDGE: Phrases = first(
    "what|whats|who|whos|whose|whom|when|where|wheres|why|how|hows|which|is|are|was|\
            were|does|do|did|can|could|will|would|has|have|if|tell me about|add|convert|sqrt|square root|half of|double of|pick|settle this|explain|define|\
            calculate|solve|describe|recommend|was ist|wer|wie|warum|wo|qui|quoi|pourquoi|\
            comment|cómo|quién",
);

pub(super) static GREETINGS: &[(Phrases, Language)] = &[
    (
        first(
            "hello|hi|hey|hiya|heya|howdy|greetings|yo|ello|sup|hullo|good morning|\
            good afternoon|good evening|good day|morning|afternoon|evening|gday|welcome back|\
            im back|i am back|hi there|anyone there|happy new year|happy friday|happy monday|\
            merry christmas",
        ),
        Language::English,
    ),
    (first("hallo|moin|servus|grüß gott|guten morgen|guten tag|guten abend"), Language::German),
    (first("bonjour|salut|bonsoir|coucou"), Language::French),
    (first("hola|buenos días|buenos dias|buenas tardes"), Language::Spanish),
    (first("ciao|buongiorno|buonasera"), Language::Italian),
    (first("olá|ola|oi|bom dia|boa tarde"), Language::Portuguese),
];

pub(super) static NODS: Phrases = first(
    "ok|okay|interesting|go on|maybe later|one sec|give me a minute|hold that|i changed my mind|k|kk|got it|i see|makes sense|never mind|nevermind|nvm|no|nope|yes|yep|\
            yeah|yup|sure|alright|all right|right|fine|cool|good|understood|noted|no worries|\
            no problem|its fine|thats fine|forget it|not now|later|sounds good|fair enough|\
            true|indeed|hmm|hm|ah|aha|oh|lol|haha|hahaha|dont worry|dont bother|no need|test|\
            testing|sorry|my bad|oops|please|wait|one moment|hold on|agreed|exactly|great|nice",
);

/// Beginnings of what users say of themselves and their work.
pub(super) static STATEMENTS: Phrases =
    first("i|im|ive|my|we|weve|our|fyi|for the record|just so you know");
