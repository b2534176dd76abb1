// npm run release: builds what a release consists of, in dist/release: the context of the image, the
// package of the command line, the server for machines with Node, the notes and their checksums.
// `npm run release -- linux-x64 linux-arm64` names the machines of the server, by default this one;
// `-- --binaries` adds the single executables of the command line. Publishes nothing.
import { runRelease } from "./release.mjs"

process.exitCode = await runRelease(process.argv.slice(2))
