import { fail } from "./commands/fail.ts"
import { toHelp } from "./commands/help.ts"
import { ConfigError, type Environment } from "./config/config.ts"

type Command = (args: readonly string[], env: Environment) => Promise<unknown>

/** Only the command that runs is loaded. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import("./commands/serve.ts")).serve,
  restore: async () => (await import("./commands/restore.ts")).restore,
  "rotate-secret-key": async () =>
    (await import("./commands/rotate-secret-key.ts")).rotateSecretKey,
  "admin-token": async () => (await import("./commands/admin-token.ts")).adminToken,
  doctor: async () => (await import("./commands/doctor.ts")).doctor,
}

// Sandboxes run as other users and read what the server writes for them. A strict umask, as that of
// root on many servers, would keep them from it. Files that only the server may read have their mode.
process.umask(0o022)
await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<void> {
  const name = args[0]?.startsWith("-") === false ? args[0] : "serve"
  if (args.includes("--help") || args.includes("-h")) {
    process.stdout.write(toHelp(process.stdout.columns))
    return
  }
  try {
    const load = Object.hasOwn(commands, name) ? commands[name] : undefined
    if (!load)
      throw new ConfigError(
        `Cannot do "${name}": the commands are serve, restore, rotate-secret-key, admin-token and doctor`,
      )
    const command = await load()
    await command(args[0] === name ? args.slice(1) : args, process.env)
  } catch (error) {
    fail(name, error)
  }
}
