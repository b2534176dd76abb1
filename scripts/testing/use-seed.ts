import fc from "fast-check"

// Before each test file, by bunfig.toml.
if (process.env.HAMLET_TEST_SEED !== undefined)
  fc.configureGlobal({ seed: Number(process.env.HAMLET_TEST_SEED) })
