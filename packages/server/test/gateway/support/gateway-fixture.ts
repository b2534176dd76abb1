import { connect } from "node:net"
import { dirname } from "node:path"
import { waitUntil } from "@hamlet/kit/testing"
import { listen } from "../../../src/commands/listen.ts"
import { compose, type Hamlet, type Replacements } from "../../../src/compose.ts"
import { loadConfig } from "../../../src/config/config.ts"
import { asOwner } from "../../../src/domain/access/rights.ts"
import type { RunDetail } from "../../../src/domain/runs/runs.ts"
import type { Val } from "../../../src/domain/vals/vals.ts"
import type { TestUser } from "../../support/api.ts"
import { databases, type OpenDatabase } from "../../support/databases.ts"
import { PlainRunner, type PlainVal } from "./plain-runner.ts"

/** The whole server behind a port, with vals that are functions of the test. */
export interface GatewayFixture extends AsyncDisposable {
  readonly hamlet: Hamlet
  readonly runner: PlainRunner
  readonly port: number
  readonly ada: TestUser
  readonly bob: TestUser
  /** Saves a val of ada's; without a function it answers with its name. */
  addVal(name: string, val?: PlainVal, more?: Partial<Pick<Val, "privacy" | "type">>): Promise<Val>
  /** Sends a request to a host name; a bare one is that of a val of ada's. */
  request(host: string, path?: string, init?: RequestInit): Promise<Response>
  /**
   * Sends bytes, and gives what came back until the connection was closed or the text was there.
   * `onText` gets what has come so far.
   */
  exchange(
    bytes: string | Uint8Array,
    until?: RegExp,
    onText?: (text: string) => void,
  ): Promise<string>
  /** The run that a response names, once it has ended. */
  runOf(response: Response | string): Promise<RunDetail>
}

/** Opens the fixture; `env` are settings of the operator. */
export async function openGatewayFixture(
  open: OpenDatabase = databases[0]?.open as OpenDatabase,
  env: Record<string, string> = {},
  replacements: Pick<Replacements, "writeLog"> = {},
): Promise<GatewayFixture> {
  const database = await open()
  const place: Record<string, string> =
    database.path === undefined
      ? { HAMLET_DATABASE_URL: database.url ?? "", HAMLET_DATA_DIR: "/tmp" }
      : { HAMLET_DATA_DIR: dirname(database.path) }
  const key = Buffer.alloc(32, 7).toString("base64")
  const settings = {
    ...place,
    HAMLET_PORT: "0",
    HAMLET_LOG_LEVEL: "none",
    HAMLET_SECRET_KEY: key,
    HAMLET_DATABASE_CONNECTIONS_MAX: "5",
    ...env,
  }
  const starting = Promise.withResolvers<Hamlet>()
  const server = listen(loadConfig(settings, []), starting.promise)
  const port = server.port ?? 0
  const runner = new PlainRunner()
  const hamlet = await compose(loadConfig({ ...settings, HAMLET_PORT: String(port) }, []), {
    ...replacements,
    runner,
    resolver: null,
  })
  starting.resolve(hamlet)
  hamlet.nouns.queue.start()
  const addUser = async (username: string): Promise<TestUser> => {
    const { user, token } = await hamlet.nouns.users.create({ username, email: null })
    return { id: user.id, username, token }
  }
  const ada = await addUser("ada")
  const fixture = { hamlet, runner, port, ada, bob: await addUser("bob") }
  return {
    ...fixture,
    ...createActions(fixture),
    async [Symbol.asyncDispose]() {
      await server.stop(true)
      await hamlet.stop()
      await runner.stop()
      await database.close()
    },
  }
}

function createActions({
  hamlet,
  runner,
  port,
  ada,
}: Pick<GatewayFixture, "hamlet" | "runner" | "port" | "ada">): Pick<
  GatewayFixture,
  "addVal" | "request" | "exchange" | "runOf"
> {
  const caller = {
    actorId: ada.id,
    actorName: ada.username,
    ownerName: ada.username,
    ...asOwner(ada.id),
    tokenId: "",
    scopes: new Set<never>(),
  }
  return {
    addVal(name, val = () => new Response(name), more = {}) {
      runner.serve(`ada/${name}`, val)
      return hamlet.nouns.vals.create(caller, {
        name,
        code: "export default 1",
        privacy: "public",
        type: "http",
        ...more,
      })
    },
    request(host, path = "/", { headers, ...init } = {}) {
      const full = host.includes(".") ? host : `ada-${host}.localhost:${port}`
      const all = { ...(headers as Record<string, string>), host: full }
      return fetch(`http://127.0.0.1:${port}${path}`, {
        redirect: "manual",
        ...init,
        headers: all,
        decompress: false,
      } as RequestInit)
    },
    exchange: (bytes, until, onText) => exchange(port, bytes, until, onText),
    runOf(response) {
      const id = typeof response === "string" ? response : (response.headers.get("x-run-id") ?? "")
      return waitUntil(async () => {
        const run = await hamlet.stores.runs.find(asOwner(ada.id), id)
        return run && run.endedAt !== null && run
      })
    },
  }
}

function exchange(
  port: number,
  bytes: string | Uint8Array,
  until?: RegExp,
  onText?: (text: string) => void,
): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1")
    let text = ""
    // A connection that is broken off is closed, too.
    socket.on("error", () => {})
    socket.on("close", () => resolve(`${text}<closed>`))
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1")
      onText?.(text)
      if (!until?.test(text)) return
      socket.destroy()
      resolve(text)
    })
    socket.write(bytes)
  })
}
