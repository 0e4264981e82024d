// Warnings about the spec of a job, in a Job and in a CronJob.
import { numberAt, objectAt, stringAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import type { Warnings } from '../common/define-kind.js'
import { same } from '../common/strategies.js'
import { templateWarnings } from '../core/pod/warnings.js'

const TOO_MANY_INDEXES =
  'In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, ' +
  'Kubernetes might not be able to track completedIndexes when a big number of indexes fail'

/** `path` is that of the job's spec. */
export function jobWarnings(path: string): Warnings {
  const ofTemplate = templateWarnings(`${path}.template`, { isNamed: true })
  const isTooMuch = (object: ValueObject): boolean => {
    const spec = path.split('.').reduce(objectAt, object)
    return (
      stringAt(spec, 'completionMode') === 'Indexed' &&
      numberAt(spec, 'completions') > 100_000 &&
      numberAt(spec, 'parallelism') > 10_000
    )
  }
  return (object, old) => {
    const isUnchanged = old !== undefined && same(object, old, 'spec')
    const indexes = !isUnchanged && isTooMuch(object) ? [`${path}: ${TOO_MANY_INDEXES}`] : []
    return [...indexes, ...ofTemplate(object, old)]
  }
}
