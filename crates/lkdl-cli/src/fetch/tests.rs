//! A server on the loopback that serves well, badly, or not at all.

use super::*;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const NAME: &str = "set.bin";

/// The file that is to be fetched.
fn content() -> Vec<u8> {
    (0..100_000_u64).map(|i| (i * i % 251) as u8).collect()
}

fn file() -> RemoteFile<'static> {
    let sum =
        Sha256::digest(content()).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    RemoteFile { name: NAME, bytes: content().len() as u64, sha256: sum.leak() }
}

#[derive(Clone, Copy, PartialEq)]
enum Manner {
    Good,
    /// The right length, one byte wrong.
    Corrupt,
    /// Closes after so many bytes of every answer.
    Truncated(usize),
    /// 404.
    Missing,
    /// Sends the beginning, then nothing.
    Stalls,
    /// Whole answers whatever is asked.
    NoRange,
    /// Twice the length, without saying how long.
    Endless,
    /// Refuses every range.
    Unsatisfiable,
    /// Accepts and never answers.
    Mute,
}

struct Server {
    home: String,
    /// The `Range` header of every request.
    ranges: Arc<Mutex<Vec<Option<String>>>>,
}

impl Server {
    fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let home = format!("http://{}", listener.local_addr().unwrap());
        let ranges = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&ranges);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let _ = serve(stream.unwrap(), manner, &seen); // a client may hang up
            }
        });
        Self { home, ranges }
    }

    fn ranges(&self) -> Vec<Option<String>> {
        self.ranges.lock().unwrap().clone()
    }
}

fn serve(
    mut stream: TcpStream,
    manner: Manner,
    seen: &Mutex<Vec<Option<String>>>,
) -> io::Result<()> {
    let mut range = None;
    for line in BufReader::new(stream.try_clone()?).lines() {
        let line = line?;
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(": ")
            && name.eq_ignore_ascii_case("range")
        {
            range = Some(value.to_owned());
        }
    }
    seen.lock().unwrap().push(range.clone());
    let mut body = content();
    match manner {
        Manner::Missing => {
            return stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
        }
        Manner::Mute => {
            std::thread::sleep(Duration::from_secs(3));
            return Ok(());
        }
        Manner::Corrupt => body[70_000] ^= 1,
        Manner::Endless => {
            stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n")?;
            return stream.write_all(&[body.clone(), body].concat());
        }
        Manner::Unsatisfiable if range.is_some() => {
            let answer = b"HTTP/1.1 416 Range Not Satisfiable\r\ncontent-length: 0\r\n\r\n";
            return stream.write_all(answer);
        }
        _ => {}
    }
    let start: usize = match &range {
        Some(range) if manner != Manner::NoRange => {
            range.strip_prefix("bytes=").unwrap().trim_end_matches('-').parse().unwrap()
        }
        _ => 0,
    };
    let (total, rest) = (body.len(), &body[start..]);
    let status = match start {
        0 => "200 OK".to_owned(),
        _ => format!("206 Partial Content\r\ncontent-range: bytes {start}-{}/{total}", total - 1),
    };
    let head =
        format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", rest.len());
    stream.write_all(head.as_bytes())?;
    match manner {
        Manner::Truncated(most) => stream.write_all(&rest[..most.min(rest.len())]),
        Manner::Stalls => {
            stream.write_all(&rest[..1000])?;
            std::thread::sleep(Duration::from_secs(3));
            Ok(())
        }
        _ => stream.write_all(rest),
    }
}

/// A folder of its own for a test, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("lkdl-fetch-{}-{test}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn fetch(folder: &Folder, homes: &[&Server], context: &Context) -> Result<Outcome, String> {
    let wait = Duration::from_millis(400);
    let patience = Patience { connect: wait, stall: wait };
    let homes: Vec<&str> = homes.iter().map(|server| server.home.as_str()).collect();
    Fetch { directory: &folder.0, mirror: None, patience }
        .file(&file(), &homes, &folder.0.join(NAME), context)
        .map(|fetched| fetched.outcome)
        .map_err(|failure| {
            assert_eq!(failure.code(), 1);
            format!("{failure:?}")
        })
}

fn is_whole(folder: &Folder) -> bool {
    folder.names() == [NAME] && std::fs::read(folder.0.join(NAME)).unwrap() == content()
}

#[test]
fn a_good_file_is_fetched_once() {
    let (folder, good) = (Folder::new("good"), Server::start(Manner::Good));
    let context = Context::for_tests();
    assert_eq!(fetch(&folder, &[&good], &context), Ok(Outcome::Fetched));
    assert!(is_whole(&folder));
    assert_eq!(fetch(&folder, &[&good], &context), Ok(Outcome::Present));
    assert_eq!(good.ranges(), [None]);
}

#[test]
fn a_missing_corrupt_or_endless_file_is_left_for_the_next_home() {
    let good = Server::start(Manner::Good);
    for (test, manner, reason) in [
        ("missing", Manner::Missing, "the server answered 404"),
        ("corrupt", Manner::Corrupt, "another SHA-256"),
        ("endless", Manner::Endless, "not 100000"),
    ] {
        let (folder, bad) = (Folder::new(test), Server::start(manner));
        let message = fetch(&folder, &[&bad], &Context::for_tests()).unwrap_err();
        assert!(message.contains(reason), "{message}");
        assert!(message.contains("--mirror"), "{message}");
        assert!(!folder.names().contains(&NAME.to_owned()));
        assert_eq!(fetch(&folder, &[&bad, &good], &Context::for_tests()), Ok(Outcome::Fetched));
        assert!(is_whole(&folder));
    }
}

#[test]
fn a_closed_connection_is_taken_up_where_it_broke() {
    let (folder, server) = (Folder::new("closed"), Server::start(Manner::Truncated(40_000)));
    assert_eq!(fetch(&folder, &[&server], &Context::for_tests()), Ok(Outcome::Fetched));
    assert!(is_whole(&folder));
    let range = |start: usize| Some(format!("bytes={start}-"));
    assert_eq!(server.ranges(), [None, range(40_000), range(80_000)]);
}

#[test]
fn what_came_is_kept_for_the_next_run() {
    let (folder, server) = (Folder::new("kept"), Server::start(Manner::Truncated(10_000)));
    let message = fetch(&folder, &[&server], &Context::for_tests()).unwrap_err();
    assert!(message.contains("closed after 50000 bytes"), "{message}");
    let good = Server::start(Manner::Good);
    assert_eq!(fetch(&folder, &[&good], &Context::for_tests()), Ok(Outcome::Fetched));
    assert!(is_whole(&folder));
    assert_eq!(good.ranges(), [Some("bytes=50000-".to_owned())]);
}

#[test]
fn a_server_that_stalls_is_given_up() {
    for (test, manner) in [("stalls", Manner::Stalls), ("mute", Manner::Mute)] {
        let (folder, server) = (Folder::new(test), Server::start(manner));
        let message = fetch(&folder, &[&server], &Context::for_tests()).unwrap_err();
        assert!(message.contains("sent nothing"), "{message}");
    }
}

#[test]
fn a_beginning_that_cannot_be_continued_is_fetched_anew() {
    let wrong = vec![1; 5_000];
    for (test, manner, requests) in [
        ("norange", Manner::NoRange, 1),
        ("unsatisfiable", Manner::Unsatisfiable, 2),
        ("older", Manner::Good, 2),
    ] {
        let (folder, server) = (Folder::new(test), Server::start(manner));
        std::fs::write(folder.0.join(format!("{NAME}.part")), &wrong).unwrap();
        assert_eq!(
            fetch(&folder, &[&server], &Context::for_tests()),
            Ok(Outcome::Fetched),
            "{test}"
        );
        assert!(is_whole(&folder));
        assert_eq!(server.ranges().len(), requests, "{test}");
    }
}

#[test]
fn another_file_of_this_name_is_kept_without_force() {
    let (folder, good) = (Folder::new("other"), Server::start(Manner::Good));
    std::fs::write(folder.0.join(NAME), "mine").unwrap();
    let mut context = Context::for_tests();
    assert!(fetch(&folder, &[&good], &context).unwrap_err().contains("--force"));
    assert_eq!(std::fs::read(folder.0.join(NAME)).unwrap(), b"mine");
    context.force = true;
    assert_eq!(fetch(&folder, &[&good], &context), Ok(Outcome::Fetched));
    assert!(is_whole(&folder));
}

#[test]
fn sets_that_cannot_be_fetched_say_what_to_do() {
    let folder = Folder::new("advice");
    let wait = Duration::from_millis(10);
    let fetch = Fetch {
        directory: &folder.0,
        mirror: None,
        patience: Patience { connect: wait, stall: wait },
    };
    for (name, part) in [
        ("yaleb", "featurevectors_rebuilt.mat there"),
        ("ar", "research only"),
        ("digits", "built in"),
        ("nothing", "choose from digits, usps"),
    ] {
        let failure = fetch.set(name, &Context::for_tests()).unwrap_err();
        assert_eq!(failure.code(), 2);
        assert!(format!("{failure:?}").contains(part), "{failure:?}");
    }
    assert!(folder.names().is_empty());
}
