import { fileProbes } from "./probes/files.ts"
import { internalsProbes } from "./probes/internals.ts"
import { networkProbes } from "./probes/network.ts"
import { processProbes } from "./probes/processes.ts"
import { describeVillage, probeVals } from "./support/test-village.ts"

describeVillage("what a val tries in its sandbox: files", {}, (village) => probeVals(village, fileProbes))

describeVillage("what a val tries in its sandbox: processes", {}, (village) => probeVals(village, processProbes))

describeVillage("what a val tries in its sandbox: network", {}, (village) => probeVals(village, networkProbes))

describeVillage("what a val tries in its sandbox: Deno's internals", {}, (village) => probeVals(village, internalsProbes))
