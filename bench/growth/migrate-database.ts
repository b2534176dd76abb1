import { migrate } from "@hamlet/database"
import { openPostgres } from "@hamlet/database/postgres"
import { migrations } from "../../packages/server/src/storage/migrations/index.ts"

// Migrates a database as a node does when it starts.
const db = await openPostgres(process.argv[2] ?? "")
await migrate(db, migrations)
await db.stop()
