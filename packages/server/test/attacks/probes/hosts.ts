/**
 * A `Host` header, and what must handle it: a val, the gateway without a val, the API, or nothing.
 */
export interface HostProbe {
  readonly tries: string
  /** `P` after a colon stands for the port. */
  readonly host: string
  readonly answers: "val" | "no val" | "api" | "nobody"
}

const letters = (count: number) => "a".repeat(count)

export const hostProbes: readonly HostProbe[] = [
  { tries: "the host of a val", host: "ada-echo.localhost:P", answers: "val" },
  { tries: "the host in capitals", host: "ADA-ECHO.LOCALHOST:P", answers: "val" },
  { tries: "a dot at the end", host: "ada-echo.localhost.:P", answers: "val" },
  { tries: "no port", host: "ada-echo.localhost", answers: "val" },
  { tries: "another port", host: "ada-echo.localhost:1", answers: "val" },
  { tries: "an empty port", host: "ada-echo.localhost:", answers: "val" },
  { tries: "two dots at the end", host: "ada-echo.localhost..:P", answers: "api" },
  { tries: "a port that is a word", host: "ada-echo.localhost:abc", answers: "api" },
  { tries: "two ports", host: "ada-echo.localhost:80:80", answers: "api" },
  { tries: "a host behind a comma", host: "ada-echo.localhost:P, localhost:P", answers: "nobody" },
  { tries: "the host of the API", host: "localhost:P", answers: "api" },
  { tries: "the host of the API in capitals", host: "LOCALHOST:P", answers: "api" },
  { tries: "the host of the API with a dot at the end", host: "localhost.:P", answers: "api" },
  { tries: "an address", host: "127.0.0.1:P", answers: "api" },
  { tries: "an address of IPv6", host: "[::1]:P", answers: "api" },
  { tries: "a host that is not ours", host: "evil.test", answers: "api" },
  {
    tries: "the host of a val within another domain",
    host: "ada-echo.localhost.evil.test",
    answers: "api",
  },
  { tries: "another host behind an at", host: "ada-echo.localhost@evil.test", answers: "api" },
  { tries: "a user before the host", host: "evil@ada-echo.localhost:P", answers: "no val" },
  { tries: "a path behind the host", host: "ada-echo.localhost/v1/me", answers: "api" },
  { tries: "a fragment behind the host", host: "ada-echo.localhost#x", answers: "api" },
  { tries: "an empty label", host: ".localhost:P", answers: "no val" },
  { tries: "a label of one hyphen", host: "-.localhost:P", answers: "no val" },
  { tries: "a label without a name of a val", host: "ada-.localhost:P", answers: "no val" },
  { tries: "a label without a name of a user", host: "-echo.localhost:P", answers: "no val" },
  { tries: "two hyphens", host: "ada--echo.localhost:P", answers: "no val" },
  { tries: "an underscore for the hyphen", host: "ada_echo.localhost:P", answers: "no val" },
  { tries: "a label before that of a val", host: "api.ada-echo.localhost:P", answers: "no val" },
  { tries: "an empty label within", host: "ada-echo..localhost:P", answers: "no val" },
  { tries: "a hyphen in percent signs", host: "ada%2decho.localhost:P", answers: "no val" },
  { tries: "a hyphen of Unicode", host: "ada\xe2\x80\x90echo.localhost:P", answers: "no val" },
  { tries: "a dot of Unicode", host: "ada-echo\xe3\x80\x82localhost:P", answers: "api" },
  { tries: "a name in Punycode", host: "xn--ada-echo.localhost:P", answers: "no val" },
  { tries: "a space in the name", host: "ada-echo .localhost:P", answers: "no val" },
  { tries: "a label of 70 letters", host: `${letters(70)}-echo.localhost:P`, answers: "no val" },
  { tries: "a label of 300 letters", host: `${letters(300)}.localhost:P`, answers: "no val" },
  { tries: "a label of 10,000 letters", host: `${letters(10_000)}.localhost:P`, answers: "no val" },
  { tries: "a NUL in the name", host: "ada-echo\0.localhost:P", answers: "nobody" },
]
