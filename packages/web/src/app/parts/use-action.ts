import { useSignal } from "@preact/signals"
import { showError } from "../frame/toast-list.ts"

/** Runs an action of the user: knows whether it is under way, and reports its failure. */
export function useAction() {
  const isBusy = useSignal(false)
  const run = async (action: () => Promise<unknown>) => {
    isBusy.value = true
    try {
      await action()
    } catch (error) {
      showError(error)
    } finally {
      isBusy.value = false
    }
  }
  return { isBusy: isBusy.value, run }
}
