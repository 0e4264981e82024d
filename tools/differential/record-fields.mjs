// Turns refusals of changed fields into recordings: one scenario for each object and verb, with one step for each rule that
// was broken.
import { writeFileSync } from 'node:fs'
import { replaceText } from './compare.mjs'
import { createNamespace, NAMESPACE, patch, TOKEN } from './requests.mjs'

/** How many rules a scenario shows, and how large a request may be. */
const MAX_STEPS = 15
const MAX_BODY = 6000

/** `keep` takes refusals, `write` writes the scenarios to a file. */
export function createRecorder() {
  const scenarios = new Map()
  const seen = new Set()
  return {
    keep({ token, create, resource, step, want }) {
      const verb = step.method === 'POST' ? 'create' : step.path.includes('/status') ? 'status' : 'update'
      const rule = `${resource.apiVersion} ${resource.kind} ${verb} ${ruleOf(want)}`
      // Addresses and ports that a sample names cannot be had by two scenarios at once.
      if (verb !== 'create' && resource.kind === 'Service') return
      if (seen.has(rule) || JSON.stringify(step.body).length > MAX_BODY || /<uid|<rv/.test(JSON.stringify(want))) return
      seen.add(rule)
      const key = `${resource.kind}-${verb}-${token}`
      const scenario = scenarios.get(key) ?? { token, create, resource, verb, steps: [] }
      scenarios.set(key, scenario)
      if (scenario.steps.length < MAX_STEPS) scenario.steps.push({ ...step, expect: want })
    },
    write(file) {
      const lines = [...scenarios.values()].map((scenario, n) => JSON.stringify(recordingOf(scenario, n)))
      writeFileSync(file, `{"scenarios":[\n${lines.join(',\n')}\n]}\n`)
      return lines.length
    },
  }
}

/** What the causes say, without the values that they name. */
const ruleOf = ({ body }) =>
  (body.details?.causes ?? [{ message: body.message }])
    .map(({ field = '', message }) => `${field} ${message}`.replace(/"[^"]*"|\d+/g, ''))
    .join()

function recordingOf({ token, create, resource, verb, steps }, n) {
  const lasting = `fd${String(n).padStart(4, '0')}`
  const { kind, namespaced } = resource
  const name = create.body.metadata.name
  const namespace = replaceText({ ...createNamespace(), unchecked: true }, TOKEN, token)
  const recorded = {
    about: `${resource.apiVersion} ${kind}: fields that may not have a value, ${verb}`,
    cleanup: namespaced ? [`/api/v1/namespaces/${replaceText(NAMESPACE, TOKEN, token)}`] : [`${create.path}/${name}`],
    steps: [
      ...(namespaced ? [namespace] : []),
      ...(verb === 'create' ? [] : [{ ...create, unchecked: true }]),
      ...steps,
      ...(verb === 'create' ? [] : [releaseOf(`${create.path}/${name}`)]),
    ],
  }
  return { name: `own-fields/${kind}-${verb}-${n}`, ...replaceText(recorded, token, lasting) }
}

/** Takes finalizers away, so that the object can be deleted where no controller does that. */
const releaseOf = path => ({
  ...patch('merge', path, { metadata: { finalizers: null } }),
  unchecked: true,
})
