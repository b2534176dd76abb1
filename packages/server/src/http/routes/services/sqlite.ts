import { batchSql, executeSql } from "../../../domain/owner-databases.ts"
import type { Handlers } from "../../call.ts"
import type { Nouns } from "../../nouns.ts"
import { jsonText } from "../../response/api-response.ts"

/** The SQLite database of the caller. */
export function sqliteHandlers({ userData }: Nouns) {
  return {
    executeSql: async ({ caller, body }) =>
      jsonText(200, await executeSql(userData, caller, body.statement)),
    batchSql: async ({ caller, body, forwardedJson: { statements: json } }) =>
      jsonText(
        200,
        await batchSql(
          userData,
          caller,
          json === undefined ? body : { ...body, statements: { json } },
        ),
      ),
  } satisfies Partial<Handlers>
}
