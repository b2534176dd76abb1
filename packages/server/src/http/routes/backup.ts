import { backupType } from "@hamlet/contract/backup"
import { toAuditEntry } from "../../domain/accounts/audit.ts"
import type { Handlers } from "../call.ts"
import type { Nouns } from "../nouns.ts"
import { toBodyStream } from "../response/api-response.ts"

/** A backup of the whole server. */
export function backupHandlers({ audit, backups, clock, api }: Nouns) {
  return {
    getBackup: async ({ caller, query, request }) => {
      const timestamp = new Date(clock.now())
        .toISOString()
        .replaceAll(/[-:]|\..*/g, "")
        .replace("T", "-")
      const headers = {
        "content-type": backupType,
        "content-disposition": `attachment; filename="hamlet-${timestamp}.backup"`,
      }
      if (request.method === "HEAD") return { status: 200, headers, body: null }
      await audit.add(toAuditEntry(clock, caller, "backup.read"))
      const backup = await backups.open({ skipDamaged: query.skipDamaged === true })
      const onError = (error: unknown) =>
        api.log.warn("backup_broken_off", { error: String(error) })
      const stream = toBodyStream(
        () => backup.read(),
        () => backup.stop(),
        onError,
      )
      return { status: 200, headers, body: null, stream }
    },
  } satisfies Partial<Handlers>
}
