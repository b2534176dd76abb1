import {
  type Database,
  type Dialect,
  firstRow,
  type Script,
  type Statements,
  sql,
} from "@hamlet/database"
import type {
  SealedValSecret,
  SecretVal,
  ValSecretStore,
} from "../../domain/secrets/val-secrets.ts"
import {
  countOthers,
  createSealedStore,
  findSecret,
  removeSecret,
  type SecretTable,
  upsertSecret,
} from "../accounts/secrets.ts"

const ofVals: SecretTable = { name: "val_secrets", owner: "val_id", isDescribed: true }

/** Secrets of single vals in the database. Their values are encrypted before they get here. */
export function createValSecretStore(db: Database): ValSecretStore {
  /** Undefined if there is no such val. */
  const change = <Result>(valId: string, script: (val: SecretVal) => Script<Result>) =>
    db.write(
      function* (): Script<Result | undefined> {
        const val = yield* lockVal(db.dialect, valId)
        return val && (yield* script(val))
      },
      { inTurnOf: valId },
    )
  return {
    ...createSealedStore(
      db,
      ofVals,
      (secret, valId): SealedValSecret => ({ ...secret, valId }),
      ({ valId }) => valId,
    ),
    put: (valId, name, decide) =>
      change(valId, function* (val) {
        const existing = yield* findSecret(ofVals, valId, name)
        const secret = decide(val, existing, yield* countOthers(ofVals, valId, name))
        yield* upsertSecret(ofVals, valId, secret, val.ownerId)
        return secret
      }),
    remove: (valId, name, assert) =>
      change(valId, function* (val) {
        assert(val)
        return yield* removeSecret(ofVals, valId, name, val.ownerId)
      }),
  }
}

/**
 * Reads the val and locks the row of its owner, as everything that renews the environment does, so
 * that concurrent new secrets are counted one after the other, and the val, so that it is not deleted
 * meanwhile.
 */
function* lockVal(dialect: Dialect, valId: string): Statements<SecretVal | undefined> {
  yield sql`select id from users where id = (select owner_id from vals where id = ${valId}) ${dialect.forUpdate}`
  return yield* firstRow<SecretVal>`
    select v.id, v.name, v.privacy, v.owner_id, u.username as owner_name
    from vals v join users u on u.id = v.owner_id where v.id = ${valId} ${dialect.forUpdate}`
}
