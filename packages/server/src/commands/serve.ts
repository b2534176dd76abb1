import { compose, type Hamlet } from "../compose.ts"
import {
  type Config,
  ConfigError,
  type Environment,
  hasLocalLinks,
  isForOthers,
  loadConfig,
} from "../config/config.ts"
import { createSignInLink } from "../domain/accounts/sessions.ts"
import { allScopes } from "../domain/accounts/tokens.ts"
import { ensureFirstUser } from "../domain/accounts/users.ts"
import { adviseOnBubblewrap } from "../runtime/sandbox/isolation-advice.ts"
import type { IsolationReport } from "../runtime/sandbox/sandboxes.ts"
import { assertKeys } from "./assert-keys.ts"
import { fail } from "./fail.ts"
import { explainListening, listen } from "./listen.ts"
import { watchStopSignals } from "./stop-signals.ts"

const limits = {
  stopMsMax: 10_000,
  /** How long the sign-in link is valid that is printed at the start. */
  signInMs: 3_600_000,
}

/** `serve`: starts the server and runs until a signal stops it. */
export async function serve(flags: readonly string[], env: Environment): Promise<void> {
  const starting = Promise.withResolvers<Hamlet>()
  // A signal during the start takes effect after it, so that everything is cleaned up.
  watchStopSignals(() => void starting.promise.then((hamlet) => shutDown(server, hamlet)))
  // Listen first: a port in use fails before anything is written, and port 0 becomes a real port
  // that links can name.
  const server = listen(loadConfig(env, flags), starting.promise)
  const config = loadConfig(env, [...flags, "--port", String(server.port)], {
    isOnTerminal: process.stderr.isTTY,
  })
  try {
    const started = await start(config)
    const { hamlet, first } = started
    starting.resolve(hamlet)
    hamlet.deps.queue.start()
    hamlet.deps.webhookWork.start()
    printWelcome(config, started, await makeSignInLink(config, hamlet, first))
  } catch (error) {
    await server.stop(true)
    throw error
  }
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
      first: await ensureFirstUser(hamlet.deps, { username: config.user, token: config.token }),
    }
  } catch (error) {
    await hamlet.stop()
    throw error
  }
}

/** Refuses weak isolation on a server that others can reach, unless the operator has chosen it. */
async function assertIsolated(
  config: Config,
  { deps }: Hamlet,
  { details }: IsolationReport,
): Promise<void> {
  if (!deps.isForOneUser()) return
  const reason = `vals would be isolated by Deno's permissions only (${details.join("; ")})`
  const fix = `${adviseOnBubblewrap(details)}, or set HAMLET_ISOLATION=deno to accept it`
  if (isForOthers(config))
    throw new ConfigError(
      `Cannot serve other machines, at ${toAddresses(config)}: ${reason}; ${fix}`,
    )
  const { items } = await deps.accounts.list({ offset: 0, limit: 2 })
  if (items.length > 1)
    throw new ConfigError(`Cannot start a server with several users: ${reason}; ${fix}`)
}

/** Resolves with the port, or with undefined if the server receives no mail. */
async function listenForMail(
  { mail: { smtp } }: Config,
  { mailServer }: Hamlet,
): Promise<number | undefined> {
  try {
    return await mailServer?.listen()
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

/** Waits for open requests, up to a limit, then stops the vals and closes the database. */
async function shutDown(server: Bun.Server<unknown>, hamlet: Hamlet): Promise<void> {
  // A client that follows a run may wait forever.
  hamlet.deps.followers.stop()
  void hamlet.deps.backups.stop()
  const { mailServer, deps } = hamlet
  // Runs of the queue that have not started go to other nodes. Those that have are drained, although
  // no request waits for them.
  const drained = Promise.all([server.stop(), mailServer?.stop(), deps.queue.stop()]).then(() =>
    hamlet.deps.liveRuns.drain(limits.stopMsMax),
  )
  await Promise.race([drained, Bun.sleep(limits.stopMsMax)])
  await hamlet.stop().catch((error: unknown) => fail("stop", error))
  process.exit(0)
}

/**
 * Creates the link that signs in the first user. The output often ends up in logs: a public server
 * prints a link at its first start only.
 */
async function makeSignInLink(
  config: Config,
  { deps }: Hamlet,
  { user, isNew }: Awaited<ReturnType<typeof ensureFirstUser>>,
): Promise<string | undefined> {
  if (!isNew && config.isPublic) return undefined
  const firstUser = {
    userId: user.id,
    scopes: new Set(allScopes),
    root: { tokenId: null, expiresAt: null },
  }
  return deps.links.signIn((await createSignInLink(deps, firstUser, limits.signInMs)).code)
}

function printWelcome(
  config: Config,
  { hamlet, first, isolation, mailPort }: Awaited<ReturnType<typeof start>>,
  signInLink: string | undefined,
): void {
  const lines = [
    `Hamlet ${hamlet.deps.version} listens at ${config.baseUrl}`,
    ...(hasLocalLinks(config)
      ? ["              (for other machines, set HAMLET_BASE_URL and HAMLET_VALS_DOMAIN)"]
      : []),
    `  database    ${hamlet.database}`,
    `  isolation   ${isolation.level}${isolation.level === "deno" ? ", which is WEAK: run only code that you trust" : ""}`,
    ...[...isolation.details, ...hamlet.deps.isolationWarnings()].map(
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
  ]
  process.stdout.write(`${lines.join("\n")}\n`)
}
