import { createStoredFlag } from "../../data/stored.ts"

/** Whether saving formats the code first. */
export const shouldFormatOnSave = createStoredFlag("hamlet.format-on-save")

/** Whether long lines of code are wrapped. */
export const isWordWrapped = createStoredFlag("hamlet.word-wrap")
