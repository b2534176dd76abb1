import { expect, test } from "bun:test"
import {
  auditAction,
  limits as contractLimits,
  deliveryStatus,
  eventType,
  privacy,
  runSource,
  runStatus,
  scheduleCatchUp,
  scheduleOverlap,
  scope,
  valType,
} from "@hamlet/contract"
import { transferLimits } from "./archive/archive-limits.ts"
import {
  auditActions,
  deliveryStatuses,
  eventTypes,
  privacies,
  runSources,
  runStatuses,
  scheduleCatchUps,
  scheduleOverlaps,
  scopes,
  valTypes,
} from "./contract-copies.ts"
import { isValName } from "./files/front-matter.ts"
import { limits } from "./limits.ts"

test("contract-copies match the contract", () => {
  const sorted = (values: readonly string[]) => [...values].sort()
  expect(sorted(privacies)).toEqual(sorted(privacy.options))
  expect(sorted(valTypes)).toEqual(sorted(valType.options))
  expect(sorted(auditActions)).toEqual(sorted(auditAction.options))
  expect(sorted(scopes)).toEqual(sorted(scope.options))
  expect(sorted(eventTypes)).toEqual(sorted(eventType.options))
  expect(sorted(deliveryStatuses)).toEqual(sorted(deliveryStatus.options))
  expect(sorted(runSources)).toEqual(sorted(runSource.options))
  expect(sorted(runStatuses)).toEqual(sorted(runStatus.options))
  expect(sorted(scheduleOverlaps)).toEqual(sorted(scheduleOverlap.options))
  expect(sorted(scheduleCatchUps)).toEqual(sorted(scheduleCatchUp.options))
  expect(limits.pageItemsMax).toBe(contractLimits.pageItemsMax)
  expect(transferLimits.batchValsMax).toBe(contractLimits.importValsMax)
  expect([
    isValName("a".repeat(contractLimits.nameCharsMax)),
    isValName("a".repeat(contractLimits.nameCharsMax + 1)),
  ]).toEqual([true, false])
})
