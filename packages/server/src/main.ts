import { randomBytes } from "node:crypto"
import { compose, type Hamlet } from "./compose.ts"
import { type Config, ConfigError, loadConfig } from "./config.ts"
import { AppError } from "./domain/app-error.ts"
import { keyBytes, type Sealed } from "./domain/cipher.ts"
import { resealSecrets } from "./domain/secrets.ts"
import { ensureFirstUser } from "./domain/users.ts"
import { loadKeyFile, writeKeyFile } from "./storage/key-file.ts"

const keyCheck = { name: "secret_key_check", text: "hamlet", purpose: "key check" }
const limits = { stopMsMax: 10_000, idleSeconds: 60, requestBytesMax: 1_073_741_824 }

await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<void> {
  const command = args[0]?.startsWith("-") === false ? args[0] : "serve"
  const flags = args[0] === command ? args.slice(1) : args
  try {
    if (command === "serve") await serve(flags)
    else if (command === "rotate-secret-key") await rotateSecretKey(loadConfig(process.env, flags))
    else throw new ConfigError(`Cannot do "${command}": the commands are serve and rotate-secret-key`)
  } catch (error) {
    // What the operator can mend is told in one sentence; anything else is a bug and shows where it happened.
    if (!(error instanceof AppError || error instanceof ConfigError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  }
}

async function serve(flags: readonly string[]): Promise<void> {
  const starting = Promise.withResolvers<Hamlet>()
  // Listening comes first: a port that is taken is noticed before anything is written, and port 0 becomes one that links can name.
  const server = listen(loadConfig(process.env, flags), starting.promise)
  const config = loadConfig(process.env, [...flags, "--port", String(server.port)])
  try {
    const { hamlet, first } = await start(config)
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void shutDown(server, hamlet))
    starting.resolve(hamlet)
    printWelcome(config, hamlet, first)
  } catch (error) {
    await server.stop(true)
    throw error
  }
}

/** Requests that come before the program is put together wait for it. */
function listen(config: Config, starting: Promise<Hamlet>): Bun.Server<undefined> {
  const { addressHeader } = config
  let app: Hamlet["app"] | undefined
  void starting.then((hamlet) => {
    app = hamlet.app
  })
  try {
    return Bun.serve({
      hostname: config.host,
      port: config.port,
      idleTimeout: limits.idleSeconds,
      maxRequestBodySize: limits.requestBytesMax,
      fetch(request, server) {
        const address = () =>
          (addressHeader && request.headers.get(addressHeader)?.split(",").at(-1)?.trim()) || (server.requestIP(request)?.address ?? "")
        return app ? app.fetch(request, { address }) : starting.then((hamlet) => hamlet.app.fetch(request, { address }))
      },
    })
  } catch (cause) {
    throw new ConfigError(`Cannot listen on ${config.host} port ${config.port}: ${explainListening(cause)}`, { cause })
  }
}

function explainListening(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: "another program listens there",
    EADDRNOTAVAIL: "this machine does not have that address",
    EACCES: "it takes more rights than this program has",
  }
  return reasons["code" in error ? String(error.code) : ""] ?? error.message
}

async function start(config: Config) {
  const hamlet = await compose(config)
  try {
    await assertKeys(hamlet)
    return { hamlet, first: await ensureFirstUser(hamlet.deps, { username: config.user, token: config.token }) }
  } catch (error) {
    await hamlet.stop()
    throw error
  }
}

/** Lets requests in flight finish, then closes the database. A second signal, or a client that never ends, does not keep us. */
async function shutDown(server: Bun.Server<undefined>, hamlet: Hamlet): Promise<void> {
  process.once("SIGINT", () => process.exit(130))
  await Promise.race([server.stop(), Bun.sleep(limits.stopMsMax)])
  await hamlet.stop()
  process.exit(0)
}

/** Refuses to run with keys that do not open what is in the database: secrets would be lost one after the other. */
async function assertKeys(hamlet: Hamlet): Promise<void> {
  const { cipher } = hamlet.deps
  const kept = fromText(await hamlet.settings.getOrSet(keyCheck.name, toText(cipher.seal(keyCheck.text, keyCheck.purpose))))
  try {
    cipher.open(kept, keyCheck.purpose)
  } catch (cause) {
    const message = `Cannot start: the secrets in this database are encrypted with key ${kept.keyId}, which is neither in HAMLET_SECRET_KEY nor in the data folder`
    throw new ConfigError(message, { cause })
  }
}

/** Makes a new key and encrypts every secret with it. The server may go on meanwhile: it uses the new key from the moment it is there. */
async function rotateSecretKey(config: Config): Promise<void> {
  const hamlet = await compose(config)
  try {
    await assertKeys(hamlet)
    const { cipher } = hamlet.deps
    const keys = config.secretKeys ? undefined : [randomBytes(keyBytes), ...loadKeyFile(config.dataDir)]
    if (keys) writeKeyFile(config.dataDir, keys)
    const count = await resealSecrets(hamlet.deps)
    await hamlet.settings.set(keyCheck.name, toText(cipher.seal(keyCheck.text, keyCheck.purpose)))
    // Secrets that were being written meanwhile may have the key before this one, and none has an older one.
    if (keys) writeKeyFile(config.dataDir, keys.slice(0, 2))
    process.stdout.write(`Encrypted ${count} secrets with key ${cipher.keyId}\n`)
  } finally {
    await hamlet.stop()
  }
}

function toText(sealed: Sealed): string {
  return `${sealed.keyId} ${Buffer.from(sealed.bytes).toString("base64")}`
}

function fromText(text: string): Sealed {
  const [keyId = "", bytes = ""] = text.split(" ")
  return { keyId, bytes: Buffer.from(bytes, "base64") }
}

function printWelcome(config: Config, hamlet: Hamlet, first: Awaited<ReturnType<typeof ensureFirstUser>>): void {
  const lines = [
    `Hamlet ${hamlet.deps.version} listens at ${config.baseUrl}`,
    `  database    ${hamlet.database}`,
    `  first user  ${first.user.username}`,
    ...(first.token === undefined ? [] : [`  token       ${first.token}`, "              (shown only now: keep it)"]),
    `  docs        ${config.baseUrl}/docs`,
  ]
  process.stdout.write(`${lines.join("\n")}\n`)
}
