import { route } from "../route.ts"
import { backupQuery } from "../schemas/inputs.ts"

/** The whole installation in one file. */
export const backupRoutes = {
  getBackup: route({
    method: "get",
    path: "/v1/backup",
    tag: "System",
    summary:
      "Everything that the server keeps, as it is at one moment: a file of which `restore` makes the same server again",
    auth: "required",
    scope: "backup",
    query: backupQuery,
    responses: { 200: "bytes" },
    errors: ["backup_running", "database_damaged", "storage_unavailable"],
  }),
}
