import { readFileSync } from "node:fs"
import { limitReceiveBuffers, toOwnJson } from "@hamlet/kit"
import { adviseOnBubblewrap, type IsolationReport } from "@hamlet/sandbox"
import { compose, type Hamlet } from "../compose.ts"
import {
  type Config,
  ConfigError,
  type Environment,
  hasLocalLinks,
  isForOthers,
  loadConfig,
} from "../config/config.ts"
import { findUnknownSettings, toWarning } from "../config/unknown-settings.ts"
import { allScopes } from "../domain/accounts/tokens.ts"
import type { Links } from "../http/response/links.ts"
import { assertKeys } from "./assert-keys.ts"
import { fail } from "./fail.ts"
import { explainListening, listen } from "./listen.ts"
import type { MetricsPort } from "./metrics-port.ts"

const limits = {
  stopMsMax: 10_000,
  /** How long the sign-in link is valid that is printed at the start. */
  signInMs: 3_600_000,
  /**
   * One Ctrl-C can arrive twice, from the terminal and from a program that forwards it. Only a later
   * one is a second Ctrl-C.
   */
  interruptMs: 500,
}

/** `serve`: starts the server and runs until a signal stops it. */
export async function serve(flags: readonly string[], env: Environment): Promise<void> {
  const starting = Promise.withResolvers<Hamlet>()
  // A signal during the start takes effect after it, so that everything is cleaned up.
  watchStopSignals(() => void starting.promise.then((hamlet) => shutDown(config, server, hamlet)))
  // Listen first: a port in use fails before anything is written, and port 0 becomes a real port
  // that links can name.
  const server = listen(loadConfig(env, flags), starting.promise)
  const config = loadConfig(env, [...flags, "--port", String(server.port)], {
    isOnTerminal: process.stderr.isTTY,
  })
  let metrics: MetricsPort | undefined
  try {
    metrics = await openMetricsPort(config, starting.promise)
    const started = await start(config)
    const { hamlet, first } = started
    starting.resolve(hamlet)
    hamlet.nouns.queue.start()
    hamlet.parts.webhooks.worker.start()
    logStart(config, started, metrics?.port)
    const unknown = findUnknownSettings(env)
    for (const { env: name, nearest } of unknown)
      hamlet.log.warn("unknown_setting", { name, nearest })
    const link = await makeSignInLink(config, hamlet, first)
    printWelcome(config, started, link, unknown.map(toWarning))
  } catch (error) {
    metrics?.stop()
    await server.stop(true)
    throw error
  }
}

/** Loads the server of the port, which few operators want, only for them. */
async function openMetricsPort(
  config: Config,
  starting: Promise<Hamlet>,
): Promise<MetricsPort | undefined> {
  if (config.metricsPort === undefined) return undefined
  const { listenForMetrics } = await import("./metrics-port.ts")
  return listenForMetrics(config, starting)
}

async function start(config: Config) {
  const hamlet = await compose(config)
  try {
    await assertKeys(hamlet)
    const isolation = await hamlet.start()
    await assertIsolated(config, hamlet, isolation)
    const mailPort = await listenForMail(config, hamlet)
    return {
      hamlet,
      isolation,
      mailPort,
      first: await hamlet.nouns.users.ensureFirst({ username: config.user, token: config.token }),
    }
  } catch (error) {
    await hamlet.stop()
    throw error
  }
}

/** Refuses weak isolation on a server that others can reach, unless the operator has chosen it. */
async function assertIsolated(
  config: Config,
  { nouns }: Hamlet,
  { details }: IsolationReport,
): Promise<void> {
  if (!nouns.api.isForOneUser()) return
  // Only why bubblewrap is not used: the rest would hide what to do about it.
  const causes = details.filter((detail) => detail.startsWith("not used: "))
  const reason = `vals would be isolated by Deno's permissions only (${causes.join("; ")})`
  const fix = `${adviseOnBubblewrap(details)}, or set HAMLET_ISOLATION=deno to accept it`
  if (isForOthers(config))
    throw new ConfigError(
      `Cannot serve other machines, at ${toAddresses(config)}: ${reason}; ${fix}`,
    )
  const { items } = await nouns.accounts.list({ offset: 0, limit: 2 })
  if (items.length > 1)
    throw new ConfigError(`Cannot start a server with several users: ${reason}; ${fix}`)
}

/** Resolves with the port, or with undefined if the server receives no mail. */
async function listenForMail(
  { mail: { smtp }, receiveBufferBytes }: Config,
  { mailServer }: Hamlet,
): Promise<number | undefined> {
  try {
    const port = await mailServer?.listen()
    limitReceiveBuffers(receiveBufferBytes)
    return port
  } catch (cause) {
    throw new ConfigError(
      `Cannot receive mail on ${smtp.host} port ${smtp.port}: ${explainListening(cause)}`,
      { cause },
    )
  }
}

function toAddresses({ host, baseUrl, valsDomain }: Config): string {
  return [host, baseUrl, valsDomain].join(", ")
}

/**
 * Tells balancers first, if the operator wants it, while everything is still served. Then waits for
 * open requests, up to a limit, stops the vals and closes the database.
 */
async function shutDown(
  { drainMs }: Config,
  server: Bun.Server<unknown>,
  hamlet: Hamlet,
): Promise<void> {
  hamlet.log.info("stopping", { drainSeconds: drainMs / 1000 })
  hamlet.announceStop()
  if (drainMs > 0) await Bun.sleep(drainMs)
  // A client that follows a run may wait forever.
  hamlet.nouns.followers.stop()
  void hamlet.nouns.backups.stop()
  const { mailServer, nouns } = hamlet
  // Runs of the queue that have not started go to other nodes. Those that have are drained, although
  // no request waits for them.
  const drained = Promise.all([server.stop(), mailServer?.stop(), nouns.queue.stop()]).then(() =>
    nouns.liveRuns.drain(limits.stopMsMax),
  )
  await Promise.race([drained, Bun.sleep(limits.stopMsMax)])
  await hamlet.stop().catch((error: unknown) => fail("stop", error))
  hamlet.log.info("stopped")
  hamlet.log.flush()
  process.exit(0)
}

/**
 * Creates the link that signs in the first user. The output often ends up in logs: a public server
 * prints a link at its first start only.
 */
async function makeSignInLink(
  config: Config,
  { log, nouns: { signInLinks, api } }: Hamlet,
  { user, isNew }: Awaited<ReturnType<typeof start>>["first"],
): Promise<string | undefined> {
  if (!isNew && config.isPublic) return undefined
  const firstUser = {
    actorId: user.id,
    scopes: new Set(allScopes),
    root: { tokenId: null, expiresAt: null },
  }
  try {
    return api.links.signIn((await signInLinks.create(firstUser, limits.signInMs)).code)
  } catch (error) {
    // The server is up by now, and the link only a convenience: a database that is away comes back.
    const reason = error instanceof Error ? error.message : String(error)
    log.warn("sign_in_link_not_made", { error: reason })
    return undefined
  }
}

function logStart(
  config: Config,
  { hamlet, isolation, mailPort }: Awaited<ReturnType<typeof start>>,
  metricsPort: number | undefined,
): void {
  hamlet.log.info("started", {
    version: hamlet.nouns.api.version,
    node: hamlet.parts.foundation.nodeId,
    url: config.baseUrl,
    database: hamlet.database,
    isolation: isolation.level,
    mailPort,
    metricsPort,
  })
}

function printWelcome(
  config: Config,
  { hamlet, first, isolation, mailPort }: Awaited<ReturnType<typeof start>>,
  signInLink: string | undefined,
  warnings: readonly string[],
): void {
  const lines = [
    `Hamlet ${hamlet.nouns.api.version} listens at ${config.baseUrl}`,
    ...(hasLocalLinks(config)
      ? ["              (for other machines, set HAMLET_BASE_URL and HAMLET_VALS_DOMAIN)"]
      : []),
    `  database    ${hamlet.database}`,
    `  isolation   ${isolation.level}${isolation.level === "deno" ? ", which is WEAK: run only code that you trust" : ""}`,
    ...[...isolation.details, ...hamlet.nouns.api.isolationWarnings()].map(
      (detail) => `              ${detail}`,
    ),
    ...(mailPort === undefined ? [] : [`  mail        @${config.emails.domain}, port ${mailPort}`]),
    `  first user  ${first.user.username}`,
    ...(first.token === undefined
      ? []
      : [`  token       ${first.token}`, "              (shown only once: save it)"]),
    ...(signInLink === undefined
      ? []
      : [`  sign in     ${signInLink}`, "              (works once, within an hour)"]),
    `  docs        ${config.baseUrl}/docs`,
    ...(first.token === undefined
      ? []
      : toFirstVal(hamlet.parts.links, first.user.username, first.token)),
    ...warnings.map((warning) => `  warning     ${warning}`),
  ]
  process.stdout.write(`${lines.join("\n")}\n`)
}

/** Commands that can be pasted: they name this server, its first user and the token. */
function toFirstVal(links: Links, username: string, token: string): readonly string[] {
  const code = `export default () => new Response("Hello there")`
  const val = toOwnJson({ name: "greet", type: "http", privacy: "public", code })
  return [
    "  first val   made by these two commands",
    `curl -X PUT ${links.baseUrl}/v1/vals -H "authorization: Bearer ${token}" -d '${val}'`,
    `curl ${links.endpoint({ id: "", ownerName: username, name: "greet" })}/`,
  ]
}

/**
 * Calls `stop` once, at the first stop signal or when the launcher has died.
 *
 * A second Ctrl-C ends the process at once. A second SIGTERM does not: a service manager may send
 * one to every process of the service, and the launcher (`npm start`, `hamlet serve`) forwards every
 * signal as SIGTERM.
 */
function watchStopSignals(stop: () => void): void {
  let hasBegun = false
  const begin = () => {
    if (!hasBegun) stop()
    hasBegun = true
  }
  let interruptedMs: number | undefined
  process.on("SIGINT", () => {
    begin()
    const nowMs = performance.now()
    interruptedMs ??= nowMs
    if (nowMs - interruptedMs > limits.interruptMs) process.exit(130)
  })
  process.on("SIGTERM", begin)
  if (!isHangupIgnored()) process.on("SIGHUP", begin)
  // Only a launcher has an IPC channel. A server that was started directly outlives its parent.
  if (process.connected) process.on("disconnect", begin)
}

/** Whether nohup started the server: a handler would undo it. Known on Linux only. */
function isHangupIgnored(): boolean {
  try {
    const [, ignored = "0"] =
      /^SigIgn:\s+(\w+)$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? []
    return (BigInt(`0x${ignored}`) & 1n) === 1n
  } catch {
    return false
  }
}
