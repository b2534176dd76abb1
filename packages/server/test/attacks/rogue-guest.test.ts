import { expect, test } from "bun:test"
import type { Socket } from "node:net"
import type { ReceivedResponse } from "./support/attack-server.ts"
import { describeAttacks, probeMsMax } from "./support/describe-attacks.ts"
import { readResidentBytes } from "./support/processes.ts"
import { type RogueBehaviour, RogueGuest } from "./support/rogue-guest.ts"

/** What a sandbox says in place of an answer, and what the client gets to see. */
interface RogueAnswer {
  readonly says: string
  readonly act: RogueBehaviour
  /** Allowed statuses; 0 when the connection just breaks. */
  readonly statuses: readonly number[]
  check?(response: ReceivedResponse): void
}

const text = (body: string, head = "") =>
  `HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n${head}content-length: ${body.length}\r\n\r\n${body}`
const failure = (body: string, length = body.length) =>
  `HTTP/1.1 200 OK\r\nx-hamlet-failure: 1\r\ncontent-length: ${length}\r\n\r\n${body}`
const say =
  (words: string): RogueBehaviour =>
  (socket) =>
    void socket.write(words, "latin1")
const sayAndLeave =
  (words: string): RogueBehaviour =>
  (socket) =>
    socket.end(words, "latin1")

/** Writes for ever, as fast as it is read. */
function flood(head: string, part: string): RogueBehaviour {
  return (socket) => {
    socket.write(head, "latin1")
    const go = (): void => {
      for (let round = 0; round < 100 && !socket.destroyed; round++)
        if (!socket.write(part, "latin1")) break
      if (!socket.destroyed)
        void (socket.writableNeedDrain ? socket.once("drain", go) : setImmediate(go))
    }
    go()
  }
}

const drip =
  (head: string, part: string): RogueBehaviour =>
  (socket: Socket) => {
    socket.write(head, "latin1")
    const timer = setInterval(() => socket.write(part, "latin1"), 50)
    socket.on("close", () => clearInterval(timer))
  }

const isForged = ({ text: body }: ReceivedResponse) => expect(body).not.toContain("FORGED")

const rogueAnswers: readonly RogueAnswer[] = [
  {
    says: "what a guest would say",
    act: say(text("fine")),
    statuses: [200],
    check: (response) => expect(response.text).toBe("fine"),
  },
  { says: "nothing", act: () => {}, statuses: [504] },
  { says: "nothing and leaves", act: (socket) => socket.destroy(), statuses: [502] },
  { says: "rubbish", act: say("rubbish\r\n\r\n"), statuses: [502, 504] },
  { says: "zeros", act: say("\0".repeat(100_000)), statuses: [502, 504] },
  {
    says: "a greeting of TLS",
    act: say("\x16\x03\x03\x00\x7a\x02\x00\x00\x76\x03\x03"),
    statuses: [502, 504],
  },
  {
    says: "a frame of HTTP/2",
    act: say("\x00\x00\x12\x04\x00\x00\x00\x00\x00"),
    statuses: [502, 504],
  },
  { says: "a text without any head", act: sayAndLeave("just a text"), statuses: [502] },
  {
    says: "half a head and leaves",
    act: sayAndLeave("HTTP/1.1 200 OK\r\ncontent-"),
    statuses: [502],
  },
  { says: "half a head and waits", act: say("HTTP/1.1 200 OK\r\ncontent-"), statuses: [504] },
  {
    says: "headers without an end, bit by bit",
    act: drip("HTTP/1.1 200 OK\r\n", "x: y\r\n"),
    statuses: [502, 504],
  },
  {
    says: "headers without an end, as fast as it can",
    act: flood("HTTP/1.1 200 OK\r\n", `x-flood: ${"y".repeat(1000)}\r\n`),
    statuses: [502, 504],
  },
  {
    says: "one header without an end",
    act: flood("HTTP/1.1 200 OK\r\nx: ", "y".repeat(10_000)),
    statuses: [502, 504],
  },
  {
    says: "a status line without an end",
    act: flood("HTTP/1.1 200 ", "O".repeat(10_000)),
    statuses: [502, 504],
  },
  {
    says: "100 and 103 for ever",
    act: flood("", "HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"),
    statuses: [502, 504],
  },
  {
    says: "103 a few times, then an answer",
    act: say("HTTP/1.1 103 Early Hints\r\nset-cookie: FORGED=1\r\n\r\n".repeat(3) + text("fine")),
    statuses: [200, 502],
    check: ({ headers }) => expect(headers.get("set-cookie")).toBeNull(),
  },
  {
    says: "status 101",
    act: say(
      "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nraw bytes",
    ),
    statuses: [502, 504],
  },
  {
    says: "status 000",
    act: say("HTTP/1.1 000 None\r\ncontent-length: 0\r\n\r\n"),
    statuses: [502],
  },
  {
    says: "status 999",
    act: say("HTTP/1.1 999 Too Much\r\ncontent-length: 0\r\n\r\n"),
    statuses: [502],
  },
  {
    says: "two lengths",
    act: say("HTTP/1.1 200 OK\r\ncontent-length: 4\r\ncontent-length: 400\r\n\r\nfine"),
    statuses: [0, 200, 502, 504],
  },
  {
    says: "a length below zero",
    act: say("HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\nfine"),
    statuses: [0, 200, 502, 504],
  },
  {
    says: "a length that no computer has",
    act: say("HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999\r\n\r\nfine"),
    statuses: [0, 200, 502, 504],
  },
  {
    says: "a length and chunks",
    act: say(
      "HTTP/1.1 200 OK\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n4\r\nfine\r\n0\r\n\r\n",
    ),
    statuses: [200, 502],
  },
  {
    says: "chunks that are none",
    act: say("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nfine\r\n"),
    statuses: [0, 200, 502],
  },
  {
    says: "more than it promised",
    act: say(`${text("fine")}HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nFORGED`),
    statuses: [200],
    check: isForged,
  },
  {
    says: "less than it promised, and leaves",
    act: sayAndLeave("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nfine"),
    statuses: [0, 502],
  },
  {
    says: "much less than it promised, and leaves",
    act: sayAndLeave("HTTP/1.1 200 OK\r\ncontent-length: 10000000\r\n\r\nfine"),
    statuses: [0],
  },
  { says: "a failure that is none", act: say(failure("no JSON")), statuses: [502] },
  {
    says: "a failure with a name that is an array",
    act: say(failure('{"error":{"name":[],"message":1},"logCount":"x"}')),
    statuses: [502],
  },
  {
    says: "a failure that pollutes prototypes",
    act: say(
      failure(
        '{"error":{"name":"a","message":"b","__proto__":{"polluted":1}},"__proto__":{"polluted":1},"logCount":0}',
      ),
    ),
    statuses: [502],
  },
  {
    says: "a failure without an end",
    act: flood(
      "HTTP/1.1 200 OK\r\nx-hamlet-failure: 1\r\ntransfer-encoding: chunked\r\n\r\n",
      `1000\r\n${"x".repeat(4096)}\r\n`,
    ),
    statuses: [502],
  },
  {
    says: "a failure whose end never comes",
    act: say(failure('{"error":', 1000)),
    statuses: [502, 504],
  },
  {
    says: "a failure that waits for a million logs",
    act: say(failure('{"error":{"name":"a","message":"b"},"logCount":1000000}')),
    statuses: [502],
  },
  {
    says: "a header with a bare CR",
    act: say(text("fine", "x: a\rset-cookie: FORGED=1\r\n")),
    statuses: [200, 502],
    check: ({ headers }) => expect(headers.get("set-cookie")).toBeNull(),
  },
  {
    says: "a folded header",
    act: say(text("fine", "x: a\r\n set-cookie: FORGED=1\r\n")),
    statuses: [200, 502],
    check: ({ headers }) => expect(headers.get("set-cookie")).toBeNull(),
  },
  {
    says: "a header with bytes beyond ASCII",
    act: say(text("fine", "x: \xff\xfe\x80\r\n")),
    statuses: [200, 502],
  },
  {
    says: "a redirect to a file of the host",
    act: say("HTTP/1.1 302 Found\r\nlocation: file:///etc/passwd\r\ncontent-length: 0\r\n\r\n"),
    statuses: [302],
  },
  {
    says: "a redirect to the API",
    act: say(
      "HTTP/1.1 307 Temporary\r\nlocation: http://127.0.0.1/v1/me\r\ncontent-length: 0\r\n\r\n",
    ),
    statuses: [307],
  },
  {
    says: "that a proxy wants a password",
    act: say(
      "HTTP/1.1 407 Proxy\r\nproxy-authenticate: Basic realm=x\r\ncontent-length: 0\r\n\r\n",
    ),
    statuses: [407],
    check: ({ headers }) => expect(headers.get("proxy-authenticate")).toBeNull(),
  },
]

/** More than a busy machine takes for an answer that is there at once. */
const runSeconds = 6
/** Longer than all time limits together: who has no answer by then never gets one. */
const patienceMs = 60_000

function toBroken(error: Error): ReceivedResponse {
  if (error.name === "TimeoutError")
    throw new Error(
      `there was no answer within ${patienceMs} ms, though a run may take ${runSeconds} s`,
    )
  return { status: 0, headers: new Headers(), text: "", json: undefined }
}

describeAttacks(
  "attacks/rogue guest",
  {
    HAMLET_RUN_SECONDS_MAX: String(runSeconds),
    HAMLET_STREAM_SECONDS_MAX: "3",
    HAMLET_PROCESSES_READY: "1",
    HAMLET_PROCESSES_READY_MAX: "1",
  },
  (getServer) => {
    let residentBytes: number | undefined

    for (const { says, act, statuses, check } of rogueAnswers)
      test(
        `says ${says}, and only its own client is affected`,
        async () => {
          const server = getServer()
          residentBytes ??= readResidentBytes(server.hamlet.pid)
          const rogue = await RogueGuest.replace(server.hamlet.pid, act)
          try {
            const val = await server.save(server.mallory, {
              code: `export default () => "the real one"`,
            })
            const response = await server
              .request(val, { signal: AbortSignal.timeout(patienceMs) })
              .catch(toBroken)
            expect(rogue.connections).toBeGreaterThan(0)
            expect(statuses).toContain(response.status)
            expect(response.headers.get("x-hamlet-failure")).toBeNull()
            check?.(response)
            await server.expectHealthy()
            expect((await server.call("GET", "/v1/me", { as: server.ada })).text).not.toContain(
              "polluted",
            )
            expect(readResidentBytes(server.hamlet.pid) - residentBytes).toBeLessThan(
              100 * 1024 ** 2,
            )
            server.resources.recordSometimes(server.hamlet.pid)
          } finally {
            await rogue.stop()
          }
        },
        probeMsMax,
      )
  },
)
