// npm run package-cli: the command line for people without a clone, in dist/cli. Nothing is
// published.
import { runPackaging } from "./cli-package/package.mjs"

await runPackaging(process.argv.slice(2))
