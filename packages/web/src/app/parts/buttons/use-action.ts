import { useSignal } from "@preact/signals"
import { showError } from "../../frame/toast-list.ts"

/** Does what a click asks for, and reports its failure. */
export async function reportFailure(action: (() => unknown) | undefined): Promise<void> {
  try {
    await action?.()
  } catch (error) {
    showError(error)
  }
}

/** Runs an action of the user: knows whether it is under way, and reports its failure. */
export function useAction() {
  const isBusy = useSignal(false)
  const run = async (action: () => Promise<unknown>) => {
    isBusy.value = true
    await reportFailure(action)
    isBusy.value = false
  }
  return { isBusy: isBusy.value, run }
}
