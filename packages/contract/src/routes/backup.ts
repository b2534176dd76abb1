import { route } from "../route.ts"
import { backupQuery } from "../schemas/inputs.ts"

/** Backups of the whole server. */
export const backupRoutes = {
  getBackup: route("System", "get /v1/backup", {
    summary: "A consistent snapshot of all data on the server, as a file for `hamlet restore`",
    scope: "backup",
    query: backupQuery,
    responses: { 200: "bytes" },
    errors: ["backup_running", "database_damaged", "storage_unavailable"],
  }),
}
