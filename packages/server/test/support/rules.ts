import type { Scope } from "@hamlet/contract"
import type { Database } from "@hamlet/database"
import type { Caller } from "../../src/domain/access/caller.ts"
import { asOwner } from "../../src/domain/access/rights.ts"
import { createIdempotency, type IdempotencyStore } from "../../src/domain/accounts/idempotency.ts"
import {
  allScopes,
  createTokens,
  type LiveTokens,
  type TokenStore,
} from "../../src/domain/accounts/tokens.ts"
import { createUsers } from "../../src/domain/accounts/users.ts"
import type { Clock } from "../../src/domain/clock.ts"
import type { LockfileWork } from "../../src/domain/modules/lockfiles.ts"
import type { Retirer } from "../../src/domain/runs/retirement.ts"
import { type Cipher, createCipher } from "../../src/domain/secrets/cipher.ts"
import { createSecrets, type SecretStore } from "../../src/domain/secrets/secrets.ts"
import { createValLists } from "../../src/domain/vals/val-lists.ts"
import { type CodeParser, createSources } from "../../src/domain/vals/val-source.ts"
import { createVals, type ValStore } from "../../src/domain/vals/vals.ts"
import { createVersions } from "../../src/domain/vals/versions.ts"
import { createIdempotencyStore } from "../../src/storage/accounts/idempotency.ts"
import { createSecretStore } from "../../src/storage/accounts/secrets.ts"
import { createTokenStore } from "../../src/storage/accounts/tokens.ts"
import { createUserStore } from "../../src/storage/accounts/users.ts"
import { createVersionFileStore } from "../../src/storage/modules/version-files.ts"
import { createNodeStore } from "../../src/storage/nodes.ts"
import { createRunStore } from "../../src/storage/runs/runs.ts"
import { createOwnValStore } from "../../src/storage/vals/own-vals.ts"
import { createValStore } from "../../src/storage/vals/vals.ts"
import { createVersionStore } from "../../src/storage/vals/versions.ts"
import { databases } from "./databases.ts"

/** Nouns on a real database, with a clock that the test sets. */
export interface TestRules extends AsyncDisposable {
  readonly db: Database
  readonly clock: { at: number } & Clock
  readonly nodeId: string
  readonly stores: ReturnType<typeof createTestStores>
  readonly nouns: ReturnType<typeof createTestNouns>
  /** Creates the nouns with other parts. */
  createNouns(replaced: ReplacedParts): TestRules["nouns"]
  /** Adds a user with a token, by default with every scope. */
  addCaller(username: string, scopes?: readonly Scope[]): Promise<Caller>
}

interface ReplacedParts {
  readonly runner?: Retirer
  readonly scanImports?: CodeParser["scanImports"]
  readonly lockfileWork?: LockfileWork
  readonly valStore?: ValStore
  readonly cipher?: Cipher
  readonly secretStore?: SecretStore
  readonly idempotencyStore?: IdempotencyStore
  readonly nodeId?: string
  readonly tokenStore?: TokenStore
  readonly runTokens?: LiveTokens
  readonly now?: () => number
}

/** Opens the rules on a fresh SQLite database. */
export async function openRules(): Promise<TestRules> {
  const [sqlite] = databases
  if (!sqlite) throw new Error("Cannot open the rules: there is no database")
  const database = await sqlite.open()
  const { db } = database
  const clock = {
    at: Date.parse("2026-01-01T00:00:00.000Z"),
    now: () => clock.at,
    newId: () => Bun.randomUUIDv7(),
  }
  const ownNode = { id: Bun.randomUUIDv7(), host: "here", pid: 1, pidStarted: "1" }
  await createNodeStore(db).add(ownNode, 60_000)
  const stores = createTestStores(db)
  const createNouns = (replaced: ReplacedParts) =>
    createTestNouns(stores, clock, { nodeId: ownNode.id, ...replaced })
  const nouns = createNouns({})
  return {
    db,
    clock,
    nodeId: ownNode.id,
    stores,
    nouns,
    createNouns,
    async addCaller(username, scopes = allScopes) {
      const { user } = await nouns.users.create({ username, email: null })
      return {
        actorId: user.id,
        actorName: username,
        ownerName: username,
        ...asOwner(user.id),
        tokenId: clock.newId(),
        scopes: new Set(scopes),
      }
    },
    [Symbol.asyncDispose]: () => database.close(),
  }
}

function createTestStores(db: Database) {
  return {
    vals: createValStore(db),
    ownVals: createOwnValStore(db),
    versions: createVersionStore(db),
    versionFiles: createVersionFileStore(db),
    runs: createRunStore(db),
    users: createUserStore(db),
    tokens: createTokenStore(db),
    secrets: createSecretStore(db),
    idempotency: createIdempotencyStore(db),
  }
}

function createTestNouns(
  stores: ReturnType<typeof createTestStores>,
  clock: Clock,
  replaced: ReplacedParts,
) {
  const {
    lockfileWork = { wake() {} },
    runner = { retire() {} },
    valStore = stores.vals,
    secretStore = stores.secrets,
    idempotencyStore = stores.idempotency,
    cipher = createCipher([Buffer.alloc(32, 7)]),
    nodeId = "",
    tokenStore = stores.tokens,
    runTokens = { find: () => undefined },
    now,
    // The real parser is a process of its own; the rules need only the specifiers.
    scanImports = async (code: string) =>
      [...code.matchAll(/from "([^"]+)"/g)].map(([, specifier = ""]) => specifier),
  } = replaced
  const parser = { scanImports, scanPlaces: async () => null } as Partial<CodeParser> as CodeParser
  const sources = createSources(parser, { baseUrls: ["http://hamlet.test"] }, valStore)
  const users = createUsers(stores.users, stores.tokens, () => false, clock)
  const vals = createVals(valStore, sources, runner, lockfileWork, clock)
  const node = { nodeId, requestMsMax: 120_000, now: clock.now }
  return {
    users,
    vals,
    secrets: createSecrets(secretStore, cipher, runner, clock),
    idempotency: createIdempotency(idempotencyStore, cipher, node),
    tokens: createTokens(tokenStore, runTokens, now ? { ...clock, now } : clock),
    valLists: createValLists(valStore, stores.ownVals, users),
    versions: createVersions(stores.versions, vals, sources, runner, clock),
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
