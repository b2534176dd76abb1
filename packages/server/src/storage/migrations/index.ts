import type { Migration } from "../database/migrate.ts"
import { base } from "../schema/base.ts"
import { messageClaims } from "./0027-message-claims.ts"
import { lockfileOwners } from "./0028-lockfile-owners.ts"
import { lockfileClaims } from "./0029-lockfile-claims.ts"
import { fileTables } from "./0030-file-tables.ts"
import { files } from "./0031-files.ts"
import { descriptions } from "./0032-descriptions.ts"
import { secretDescriptions } from "./0033-secret-descriptions.ts"
import { runFiles } from "./0034-run-files.ts"
import { oauthDevices } from "./0035-oauth-devices.ts"
import { scheduleFiles } from "./0036-schedule-files.ts"
import { valStorage } from "./0037-val-storage.ts"
import { searchedFiles } from "./0038-searched-files.ts"
import { merges } from "./0039-merges.ts"
import { pictures } from "./0040-pictures.ts"
import { nodeReports } from "./0041-node-reports.ts"
import { budgets } from "./0042-budgets.ts"
import { runPartitions } from "./0043-run-partitions.ts"

/**
 * The base and every migration after it, in the order of their numbers. One that has landed is never
 * changed again.
 */
export const migrations: readonly Migration[] = [
  base,
  messageClaims,
  lockfileOwners,
  lockfileClaims,
  fileTables,
  files,
  descriptions,
  secretDescriptions,
  runFiles,
  oauthDevices,
  scheduleFiles,
  valStorage,
  searchedFiles,
  merges,
  pictures,
  nodeReports,
  budgets,
  runPartitions,
]
