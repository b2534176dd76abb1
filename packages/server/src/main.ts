import { randomBytes } from "node:crypto"
import { makeAdminToken } from "./admin-token.ts"
import { compose, type Hamlet } from "./compose.ts"
import { type Config, ConfigError, isForOthers, loadConfig } from "./config.ts"
import { runDoctor } from "./doctor/run-doctor.ts"
import { operator, toAuditEntry } from "./domain/accounts/audit.ts"
import { createSignInLink } from "./domain/accounts/sessions.ts"
import { allScopes } from "./domain/accounts/tokens.ts"
import { ensureFirstUser } from "./domain/accounts/users.ts"
import { AppError } from "./domain/app-error.ts"
import { keyBytes } from "./domain/secrets/cipher.ts"
import { findMissingKey, keyCheckName, sealKeyCheck } from "./domain/secrets/key-check.ts"
import { resealSecrets } from "./domain/secrets/secrets.ts"
import { listen } from "./listen.ts"
import { restore } from "./restore.ts"
import { adviseOnBubblewrap } from "./runtime/sandbox/isolation-advice.ts"
import type { IsolationReport } from "./runtime/sandbox/sandboxes.ts"
import { watchStopSignals } from "./stop-signals.ts"
import { loadKeyFile, writeKeyFile } from "./storage/accounts/key-file.ts"

const limits = {
  stopMsMax: 10_000,
  /** How long the link is good that is printed at the start. */
  signInMs: 3_600_000,
}

await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<void> {
  const command = args[0]?.startsWith("-") === false ? args[0] : "serve"
  const flags = args[0] === command ? args.slice(1) : args
  try {
    if (command === "serve") await serve(flags)
    else if (command === "rotate-secret-key") await rotateSecretKey(loadConfig(process.env, flags))
    else if (command === "admin-token") await makeAdminToken(flags, process.env)
    else if (command === "restore") await restore(flags, process.env)
    else if (command === "doctor") process.exit(await runDoctor(flags))
    else
      throw new ConfigError(
        `Cannot do "${command}": the commands are serve, restore, rotate-secret-key, admin-token and doctor`,
      )
  } catch (error) {
    fail(command, error)
  }
}

/**
 * What the operator can mend is told in one sentence; anything else is a bug and shows where it
 * happened.
 */
function fail(command: string, error: unknown): never {
  if (error instanceof AppError || error instanceof ConfigError)
    process.stderr.write(`${error.message}\n`)
  else if (isOfMachine(error)) process.stderr.write(`Cannot ${command}: ${error.message}\n`)
  else throw error
  process.exit(1)
}

/**
 * The disk is full or read-only, or the machine gives us no more of something; the message names
 * the file.
 */
function isOfMachine(error: unknown): error is Error {
  return (
    error instanceof Error &&
    "code" in error &&
    /^(ENOSPC|EDQUOT|EROFS|EACCES|EPERM|EIO|EMFILE|ENFILE|ENOMEM|EAGAIN)$/.test(String(error.code))
  )
}

async function serve(flags: readonly string[]): Promise<void> {
  const starting = Promise.withResolvers<Hamlet>()
  // A signal that comes while the server starts is obeyed when it has started: everything is then
  // tidied up.
  watchStopSignals(() => void starting.promise.then((hamlet) => shutDown(server, hamlet)))
  // Listening comes first: a port that is taken is noticed before anything is written, and port 0
  // becomes one that links can name.
  const server = listen(loadConfig(process.env, flags), starting.promise)
  const config = loadConfig(process.env, [...flags, "--port", String(server.port)])
  try {
    const { hamlet, first, isolation } = await start(config)
    starting.resolve(hamlet)
    printWelcome(config, hamlet, first, isolation, await makeSignInLink(config, hamlet, first))
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
    return {
      hamlet,
      isolation,
      first: await ensureFirstUser(hamlet.deps, { username: config.user, token: config.token }),
    }
  } catch (error) {
    await hamlet.stop()
    throw error
  }
}

/**
 * Deno's permissions alone are for one person's own code: others may only use such a server when
 * the operator has decided so.
 */
async function assertIsolated(
  config: Config,
  { deps }: Hamlet,
  { details }: IsolationReport,
): Promise<void> {
  if (!deps.isForOneUser()) return
  const reason = `vals would be isolated by Deno's permissions only (${details.join("; ")})`
  const mend = `${adviseOnBubblewrap(details)}, or set HAMLET_ISOLATION=deno to do so all the same`
  if (isForOthers(config))
    throw new ConfigError(
      `Cannot serve others than this machine, at ${toPlaces(config)}: ${reason}; ${mend}`,
    )
  const { items } = await deps.accounts.list({ offset: 0, limit: 2 })
  if (items.length > 1)
    throw new ConfigError(`Cannot start a server with several users: ${reason}; ${mend}`)
}

function toPlaces({ host, baseUrl, valsDomain }: Config): string {
  return [host, baseUrl, valsDomain].join(", ")
}

/**
 * Lets requests in flight finish, then ends the vals and closes the database. A client that never
 * ends does not keep us.
 */
async function shutDown(server: Bun.Server<unknown>, hamlet: Hamlet): Promise<void> {
  // Those who follow a run would wait for something that may never end.
  hamlet.deps.followers.stop()
  void hamlet.deps.backups.stop()
  // A run that was asked for with respond-async has no request that waits for it, and is to end as
  // well.
  const drained = server.stop().then(() => hamlet.deps.liveRuns.drain(limits.stopMsMax))
  await Promise.race([drained, Bun.sleep(limits.stopMsMax)])
  await hamlet.stop().catch((error: unknown) => fail("stop", error))
  process.exit(0)
}

/**
 * Refuses to run with keys that do not open what is in the database: secrets would be lost one
 * after the other.
 */
async function assertKeys(hamlet: Hamlet): Promise<void> {
  const { cipher } = hamlet.deps
  const missing = findMissingKey(
    cipher,
    await hamlet.settings.getOrSet(keyCheckName, sealKeyCheck(cipher)),
  )
  if (missing !== undefined)
    throw new ConfigError(
      `Cannot start: the secrets in this database are encrypted with key ${missing}, which is neither in HAMLET_SECRET_KEY nor in the data folder`,
    )
}

/**
 * Makes a new key and encrypts every secret with it. The server may go on meanwhile: it uses the
 * new key from the moment it is there.
 */
async function rotateSecretKey(config: Config): Promise<void> {
  const hamlet = await compose(config)
  try {
    await assertKeys(hamlet)
    const { cipher } = hamlet.deps
    const keys = config.secretKeys
      ? undefined
      : [randomBytes(keyBytes), ...loadKeyFile(config.dataDir)]
    if (keys) writeKeyFile(config.dataDir, keys)
    const count = await resealSecrets(hamlet.deps)
    await hamlet.deps.audit.add(
      toAuditEntry(hamlet.deps, operator, "key.rotate", undefined, {
        keyId: cipher.keyId,
        secrets: count,
      }),
    )
    await hamlet.settings.set(keyCheckName, sealKeyCheck(cipher))
    // Secrets that were being written meanwhile may have the key before this one, and none has an
    // older one.
    if (keys) writeKeyFile(config.dataDir, keys.slice(0, 2))
    process.stdout.write(`Encrypted ${count} secrets with key ${cipher.keyId}\n`)
  } finally {
    await hamlet.stop()
  }
}

/**
 * A link that signs the first user's browser in. What is printed goes into logs, so that there is
 * one at the very first start, as there is the token, and later only where nobody but this machine
 * is served.
 */
async function makeSignInLink(
  config: Config,
  { deps }: Hamlet,
  { user, isNew }: Awaited<ReturnType<typeof ensureFirstUser>>,
): Promise<string | undefined> {
  if (!isNew && config.isPublic) return undefined
  const somebody = {
    userId: user.id,
    scopes: new Set(allScopes),
    root: { tokenId: null, expiresAt: null },
  }
  return deps.links.signIn((await createSignInLink(deps, somebody, limits.signInMs)).code)
}

function printWelcome(
  config: Config,
  hamlet: Hamlet,
  first: Awaited<ReturnType<typeof ensureFirstUser>>,
  isolation: IsolationReport,
  signInLink: string | undefined,
): void {
  const lines = [
    `Hamlet ${hamlet.deps.version} listens at ${config.baseUrl}`,
    `  database    ${hamlet.database}`,
    `  isolation   ${isolation.level}${isolation.level === "deno" ? ", which is WEAK: run only code that you trust" : ""}`,
    ...[...isolation.details, ...hamlet.deps.isolationWarnings()].map(
      (detail) => `              ${detail}`,
    ),
    `  first user  ${first.user.username}`,
    ...(first.token === undefined
      ? []
      : [`  token       ${first.token}`, "              (shown only now: keep it)"]),
    ...(signInLink === undefined
      ? []
      : [`  sign in     ${signInLink}`, "              (works once, within an hour)"]),
    `  docs        ${config.baseUrl}/docs`,
  ]
  process.stdout.write(`${lines.join("\n")}\n`)
}
