import { serveWrites } from "@hamlet/database/sqlite"
import { writeRuns } from "./record-runs.ts"

// Runs are written and deleted on a thread of their own: there are thousands per second, and while
// SQLite writes its pages and waits for the disk, the main thread could serve no request.
serveWrites(writeRuns)
