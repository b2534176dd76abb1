// npm run package-cli: builds the command line for people without a clone, in dist/cli. Publishes
// nothing.
import { runPackaging } from "./cli-package/package.mjs"

await runPackaging(process.argv.slice(2))
