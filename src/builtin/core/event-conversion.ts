// Conversion of events between the core group and events.k8s.io. Both groups serve the same objects, which are stored in
// the form of the core group; only names of fields differ.
import { setOwn, type ValueObject } from '../../meta/values/value.js'

/** The names that differ, in events.k8s.io/v1 and in the core group. */
const RENAMED: readonly (readonly [modern: string, core: string])[] = [
  ['reportingController', 'reportingComponent'],
  ['regarding', 'involvedObject'],
  ['note', 'message'],
  ['deprecatedSource', 'source'],
  ['deprecatedFirstTimestamp', 'firstTimestamp'],
  ['deprecatedLastTimestamp', 'lastTimestamp'],
  ['deprecatedCount', 'count'],
]

const TO_CORE = new Map(RENAMED)
const TO_MODERN = new Map(RENAMED.map(([modern, core]) => [core, modern]))

/** An event of events.k8s.io/v1 as the core group has it. The order of the fields is not that of the type. */
export const toCoreEvent = (event: ValueObject): ValueObject => rename(event, TO_CORE, 'v1')

/** An event of the core group as events.k8s.io/v1 has it. */
export const toModernEvent = (event: ValueObject): ValueObject => rename(event, TO_MODERN, 'events.k8s.io/v1')

function rename(event: ValueObject, names: ReadonlyMap<string, string>, apiVersion: string): ValueObject {
  const renamed: ValueObject = {}
  for (const key of Object.keys(event)) setOwn(renamed, names.get(key) ?? key, event[key]!)
  if (Object.hasOwn(event, 'apiVersion')) renamed['apiVersion'] = apiVersion
  return renamed
}
