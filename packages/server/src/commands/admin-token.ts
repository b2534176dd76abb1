import { existsSync } from "node:fs"
import { join } from "node:path"
import { compose } from "../compose.ts"
import { type Config, ConfigError, type Environment, loadConfig } from "../config/config.ts"
import { operator } from "../domain/accounts/audit.ts"
import { allScopes } from "../domain/accounts/tokens.ts"

/**
 * `admin-token [USERNAME]`: creates a token with all scopes, for an operator who has lost all of
 * them. Access to the data folder or the database already allows everything. The server may run
 * meanwhile; the token works at once.
 */
export async function adminToken(args: readonly string[], env: Environment): Promise<void> {
  const username = args[0]?.startsWith("-") === false ? args[0] : undefined
  const config = loadConfig(env, username === undefined ? args : args.slice(1))
  assertDatabase(config)
  const hamlet = await compose(config)
  try {
    const { users, accounts } = hamlet.nouns
    const user =
      username === undefined
        ? await hamlet.stores.users.findFirst()
        : await users.getByName(username)
    if (!user)
      throw new ConfigError(
        "Cannot make a token: there is no user who could have it; name one who is suspended, or start the server first",
      )
    const { suspendedAt } = await accounts.get(user.id)
    if (suspendedAt !== null) await accounts.unsuspend(operator, user.id)
    const { text } = await accounts.createToken(operator, user.id, {
      name: "recovered",
      scopes: allScopes,
      expiresAt: null,
    })
    if (suspendedAt !== null)
      process.stderr.write(`User "${user.username}" is no longer suspended\n`)
    process.stderr.write(
      `A token of user "${user.username}" that may do everything (shown only once: save it):\n`,
    )
    process.stdout.write(`${text}\n`)
  } finally {
    await hamlet.stop()
  }
}

/** A mistyped folder must not create a new, empty server. */
function assertDatabase({ databaseUrl, dataDir }: Config): void {
  const path = join(dataDir, "hamlet.db")
  if (databaseUrl === undefined && !existsSync(path))
    throw new ConfigError(`Cannot make a token: there is no database "${path}"`)
}
