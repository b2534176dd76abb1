import type { Migration } from "@hamlet/database"
import { base } from "../schema/base.ts"
import { nodeReports } from "./0041-node-reports.ts"
import { budgets } from "./0042-budgets.ts"
import { runPartitions } from "./0043-run-partitions.ts"
import { addresses } from "./0044-addresses.ts"
import { organisations } from "./0045-organisations.ts"

/**
 * The base and every migration after it, in the order of their numbers. One that has landed is never
 * changed again.
 */
export const migrations: readonly Migration[] = [
  base,
  nodeReports,
  budgets,
  runPartitions,
  addresses,
  organisations,
]
