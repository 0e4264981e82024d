// Recorded scenarios with some of their requests changed.
import { readScenarios } from '../builtin-values.mjs'
import { mutate, withDuplicate } from '../mutations.mjs'
import { acceptOf, TOKEN, writeOptions } from '../requests.mjs'

let usable

export function recordings(random) {
  usable ??= readScenarios().filter(
    ({ webhooks, name, steps }) =>
      !webhooks &&
      steps.length < 40 &&
      !/^(auth|openapi|discovery|admission|own-policies|own-admission[-0-9]*)\//.test(name),
  )
  const scenario = ownNames(random.pick(usable))
  const { steps } = scenario
  const candidates = steps.filter(step => step.method && !step.eventually && !step.unchecked)
  for (let i = 0; i < random.between(1, 4) && candidates.length > 0; i++) changeStep(random, random.pick(candidates))
  return { about: scenario.name, steps, cleanup: scenario.cleanup }
}

/** Namespaces and groups with names of this run, so that scenarios do not meet each other. */
function ownNames(scenario) {
  let text = JSON.stringify({
    ...scenario,
    steps: scenario.steps.map(({ expect, ...step }) => ({
      ...step,
      ...(step.eventually && { until: undefined }),
      ...(expect && step.eventually && { wants: expect.status }),
    })),
  })
  const names = new Set()
  for (const { method, path, body } of scenario.steps) {
    if (method !== 'POST') continue
    if (path === '/api/v1/namespaces' && typeof body?.metadata?.name === 'string') names.add(body.metadata.name)
    if (
      path?.endsWith('/customresourcedefinitions') &&
      /^[a-z0-9.-]+\.[a-z]+$/.test(body?.spec?.group ?? '') &&
      !body.spec.group.endsWith('k8s.io')
    )
      names.add(body.spec.group)
  }
  for (const name of names) text = text.replaceAll(name, `${TOKEN}-${name}`.slice(0, 60))
  const { steps, ...rest } = JSON.parse(text)
  // What a scenario waited for is its status.
  return {
    ...rest,
    steps: steps.map(({ wants, ...step }) =>
      wants ? Object.assign(step, { until: status => status === wants }) : step,
    ),
  }
}

function changeStep(random, step) {
  const kind = random.weighted([
    [6, 'body'],
    [2, 'options'],
    [2, 'accept'],
    [1, 'duplicate'],
    [1, 'method'],
  ])
  if (kind === 'body' && step.body !== null && typeof step.body === 'object' && !step.body.base64)
    step.body = mutate(random, step.body, random.between(1, 2))
  else if (kind === 'duplicate' && step.body !== null && typeof step.body === 'object' && !step.body.base64)
    step.body = withDuplicate(random, step.body)
  else if (kind === 'accept') step.headers = { ...step.headers, ...acceptOf(random) }
  else if (kind === 'method' && !step.body) step.method = random.pick(['GET', 'HEAD', 'DELETE', 'OPTIONS'])
  else if (!step.path.includes('?')) step.path += writeOptions(random, { isPatch: step.method === 'PATCH' })
}
