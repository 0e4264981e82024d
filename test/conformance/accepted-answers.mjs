// The answers to a step of a scenario that count as right: the recorded one and, in one case, earlier ones.

/**
 * kube-apiserver reads changed admission policies and bindings once a second. A step that was recorded right after such a
 * change may hold the answer from before the change: `eventually` took the first answer. That is so if the last step with
 * the same request has the same answer. A server that applies changes at once gives an answer that belongs to the policies
 * after the change, so that each answer that the scenario recorded for this request is accepted.
 */
export function acceptedAnswers(steps, index) {
  const { expect, eventually } = steps[index]
  if (!expect) return undefined
  const equal = eventually ? indexesOfEqualRequests(steps, index) : []
  const last = equal.at(-1)
  const isFromBefore =
    last !== undefined &&
    JSON.stringify(steps[last].expect) === JSON.stringify(expect) &&
    steps.slice(last + 1, index).some(changesPolicies)
  return (isFromBefore ? [expect, ...equal.map(i => steps[i].expect)] : [expect]).map(withSortedWarnings)
}

const requestOf = ({ method, path, headers, body }) => JSON.stringify([method, path, headers, body])

const indexesOfEqualRequests = (steps, index) =>
  steps.slice(0, index).flatMap((step, i) => (step.method && requestOf(step) === requestOf(steps[index]) ? [i] : []))

const changesPolicies = ({ method = 'GET', path = '' }) =>
  method !== 'GET' && /\/(validating|mutating)admissionpolic(ies|ybindings)/.test(path)

const withSortedWarnings = answer => (answer.warnings ? { ...answer, warnings: answer.warnings.toSorted() } : answer)
