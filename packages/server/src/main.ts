import { runCommand } from "./commands/run-command.ts"

// Sandboxes run as other users and read what the server writes for them. A strict umask, as that of
// root on many servers, would keep them from it. Files that only the server may read have their mode.
process.umask(0o022)
await runCommand(process.argv.slice(2))
