import { backupType } from "@hamlet/contract/backup"
import { toAuditEntry } from "../../domain/accounts/audit.ts"
import type { RunningBackup } from "../../domain/backups.ts"
import type { Handlers } from "../call.ts"
import type { Nouns } from "../nouns.ts"

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
      return { status: 200, headers, body: null, stream: toStream(backup, onError) }
    },
  } satisfies Partial<Handlers>
}

function toStream(
  backup: RunningBackup,
  onError: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const chunk = await backup.read()
          if (chunk) controller.enqueue(chunk)
          else controller.close()
        } catch (error) {
          onError(error)
          // Closes the connection mid-response, so that the client does not take it for complete.
          controller.error(undefined)
        }
      },
      cancel: () => backup.stop(),
    },
    { highWaterMark: 0 },
  )
}
