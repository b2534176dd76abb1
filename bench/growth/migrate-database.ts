import { migrate } from "../../packages/server/src/storage/database/migrate.ts"
import { migrations } from "../../packages/server/src/storage/migrations/index.ts"
import { openPostgres } from "../../packages/server/src/storage/postgres/open.ts"

// Migrates a database as a node does when it starts.
const db = await openPostgres(process.argv[2] ?? "")
await migrate(db, migrations)
await db.stop()
