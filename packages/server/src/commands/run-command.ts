import { ConfigError, type Environment } from "../config/config.ts"
import { fail } from "./fail.ts"
import { toHelp } from "./help.ts"

type Command = (args: readonly string[], env: Environment) => Promise<unknown>

/** Only the command that runs is loaded. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import("./serve.ts")).serve,
  restore: async () => (await import("./restore.ts")).restore,
  "rotate-secret-key": async () => (await import("./rotate-secret-key.ts")).rotateSecretKey,
  "admin-token": async () => (await import("./admin-token.ts")).adminToken,
  doctor: async () => (await import("./doctor.ts")).doctor,
}

/** Runs the command that the arguments name; without one, the server. */
export async function runCommand(args: readonly string[]): Promise<void> {
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
