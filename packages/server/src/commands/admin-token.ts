import { existsSync } from "node:fs"
import { join } from "node:path"
import { compose } from "../compose.ts"
import { type Config, ConfigError, type Environment, loadConfig } from "../config/config.ts"
import { createUserToken, getAccount, unsuspendUser } from "../domain/accounts/accounts.ts"
import { operator } from "../domain/accounts/audit.ts"
import { allScopes } from "../domain/accounts/tokens.ts"
import { getUserByName } from "../domain/accounts/users.ts"

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
    const { deps } = hamlet
    const user =
      username === undefined ? await deps.users.findFirst() : await getUserByName(deps, username)
    if (!user)
      throw new ConfigError(
        "Cannot make a token: there is no user who could have it; name one who is suspended, or start the server first",
      )
    const { suspendedAt } = await getAccount(deps, user.id)
    if (suspendedAt !== null) await unsuspendUser(deps, operator, user.id)
    const { text } = await createUserToken(deps, operator, user.id, {
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
