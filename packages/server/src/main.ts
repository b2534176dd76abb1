import { adminToken } from "./commands/admin-token.ts"
import { doctor } from "./commands/doctor.ts"
import { fail } from "./commands/fail.ts"
import { restore } from "./commands/restore.ts"
import { rotateSecretKey } from "./commands/rotate-secret-key.ts"
import { serve } from "./commands/serve.ts"
import { ConfigError, type Environment } from "./config/config.ts"

const commands: Readonly<
  Record<string, (args: readonly string[], env: Environment) => Promise<unknown>>
> = {
  serve,
  restore,
  "rotate-secret-key": rotateSecretKey,
  "admin-token": adminToken,
  doctor,
}

await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<void> {
  const name = args[0]?.startsWith("-") === false ? args[0] : "serve"
  try {
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined
    if (!command)
      throw new ConfigError(
        `Cannot do "${name}": the commands are serve, restore, rotate-secret-key, admin-token and doctor`,
      )
    await command(args[0] === name ? args.slice(1) : args, process.env)
  } catch (error) {
    fail(name, error)
  }
}
