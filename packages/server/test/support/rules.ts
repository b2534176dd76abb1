import type { Scope } from "@hamlet/contract"
import type { Caller } from "../../src/domain/access.ts"
import type { IdempotencyDeps } from "../../src/domain/accounts/idempotency.ts"
import { type AuthenticationDeps, allScopes } from "../../src/domain/accounts/tokens.ts"
import { createUser, type UserDeps } from "../../src/domain/accounts/users.ts"
import type { RunDeps } from "../../src/domain/runs/runs.ts"
import { type Cipher, createCipher } from "../../src/domain/secrets/cipher.ts"
import type { SecretDeps } from "../../src/domain/secrets/secrets.ts"
import type { ValDeps } from "../../src/domain/vals/vals.ts"
import type { VersionDeps } from "../../src/domain/vals/versions.ts"
import { createIdempotencyStore } from "../../src/storage/accounts/idempotency.ts"
import { createSecretStore } from "../../src/storage/accounts/secrets.ts"
import { createTokenStore } from "../../src/storage/accounts/tokens.ts"
import { createUserStore } from "../../src/storage/accounts/users.ts"
import type { Database } from "../../src/storage/database/database.ts"
import { createNodeStore } from "../../src/storage/nodes.ts"
import { createRunStore } from "../../src/storage/runs/runs.ts"
import { createValStore } from "../../src/storage/vals/vals.ts"
import { createVersionStore } from "../../src/storage/vals/versions.ts"
import { databases } from "./databases.ts"

/** The dependencies of the rules, on a real database, with a clock that the test sets. */
export interface TestRules extends AsyncDisposable {
  readonly db: Database
  readonly clock: { at: number }
  readonly deps: ValDeps &
    VersionDeps &
    UserDeps &
    SecretDeps &
    IdempotencyDeps &
    RunDeps &
    AuthenticationDeps
  /** Adds a user with a token, by default with every scope. */
  addCaller(username: string, scopes?: readonly Scope[]): Promise<Caller>
}

/** Opens the rules on a fresh SQLite database. */
export async function openRules(
  cipher: Cipher = createCipher([Buffer.alloc(32, 7)]),
): Promise<TestRules> {
  const [sqlite] = databases
  if (!sqlite) throw new Error("Cannot open the rules: there is no database")
  const database = await sqlite.open()
  const { db } = database
  const clock = { at: Date.parse("2026-01-01T00:00:00.000Z") }
  const ownNode = { id: Bun.randomUUIDv7(), host: "here", pid: 1, pidStarted: "1" }
  await createNodeStore(db).add(ownNode, 60_000)
  const deps: TestRules["deps"] = {
    vals: createValStore(db),
    versions: createVersionStore(db),
    runs: createRunStore(db),
    users: createUserStore(db),
    tokens: createTokenStore(db),
    runTokens: { find: () => undefined },
    runner: { retire: () => {} },
    lockfileWork: { wake: () => {} },
    requestMsMax: 120_000,
    isForOneUser: () => false,
    nodeId: ownNode.id,
    secrets: createSecretStore(db),
    idempotency: createIdempotencyStore(db),
    cipher,
    importHosts: { baseUrls: ["http://hamlet.test"] },
    // The real parser is a process of its own; the rules need only the specifiers.
    scanImports: async (code) =>
      [...code.matchAll(/from "([^"]+)"/g)].map(([, specifier = ""]) => specifier),
    newId: () => Bun.randomUUIDv7(),
    now: () => clock.at,
  }
  return {
    db,
    clock,
    deps,
    async addCaller(username, scopes = allScopes) {
      const { user } = await createUser(deps, { username, email: null })
      return { userId: user.id, username, tokenId: deps.newId(), scopes: new Set(scopes) }
    },
    [Symbol.asyncDispose]: () => database.close(),
  }
}

/** The code of the error that `work` ends with; throws when it succeeds. */
export async function codeOf(work: Promise<unknown> | (() => unknown)): Promise<string> {
  try {
    await (typeof work === "function" ? work() : work)
  } catch (error) {
    if (error instanceof Error && "code" in error) return String(error.code)
    throw error
  }
  throw new Error("nothing was thrown")
}
