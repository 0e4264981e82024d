// Without a reference: what must hold for the answers of any server.

/** The laws that the answers of a scenario break, as texts. */
export function brokenLaws(scenario, results) {
  const broken = []
  let written
  for (const [i, result] of results.entries()) {
    const step = scenario.steps[i] ?? {}
    const where = `step ${i} ${step.method ?? ''} ${step.path ?? ''}`
    if (result?.broken) broken.push(`${where}: no answer: ${result.broken}`)
    if (result?.status === 500 && isBug(result.body)) broken.push(`${where}: 500: ${result.body?.message}`)
    if (result?.status >= 400 && result.body?.kind === 'Status' && result.body.code !== result.status)
      broken.push(`${where}: a Status with another code`)
    // A get that follows a write of the same object shows what the write answered.
    if (
      step.method === 'GET' &&
      written?.path === step.path &&
      result.status === 200 &&
      !sameObject(written.body, result.body)
    ) {
      broken.push(`${where}: a get differs from the answer to the write before it`)
    }
    written = isWrite(step, result)
      ? { path: objectPath(step, result.body), body: result.body }
      : step.method === 'GET'
        ? written
        : undefined
  }
  return broken
}

/** A 500 that no rule of Kubernetes asks for. */
const isBug = body => /something went wrong in the server/.test(body?.message ?? '')

const isWrite = (step, result) =>
  ['POST', 'PUT', 'PATCH'].includes(step.method) &&
  [200, 201].includes(result.status) &&
  !/dryRun|\/(status|scale)(\?|$)/.test(step.path) &&
  typeof result.body?.metadata?.name === 'string'

function objectPath({ method, path }, body) {
  const [plain] = path.split('?')
  return method === 'POST' ? `${plain}/${body.metadata.name}` : plain
}

const sameObject = (written, read) => JSON.stringify(sorted(written)) === JSON.stringify(sorted(read))

const sorted = value =>
  Array.isArray(value)
    ? value.map(sorted)
    : value !== null && typeof value === 'object'
      ? Object.fromEntries(
          Object.entries(value)
            .toSorted(([a], [b]) => (a < b ? -1 : 1))
            .map(([key, member]) => [key, sorted(member)]),
        )
      : value

/** A list equals its pages, and a watch from the beginning equals the list. Returns what is broken. */
export async function checkCollection(client, path) {
  const read = async query => {
    const { status, raw } = await client.send({ method: 'GET', path: path + query })
    return { status, body: JSON.parse(raw.toString()) }
  }
  const whole = await read('')
  if (whole.status !== 200) return []
  const paged = []
  for (let token = ''; ; ) {
    const { status, body } = await read(`?limit=2${token && `&continue=${encodeURIComponent(token)}`}`)
    if (status !== 200) return [`${path}: a page is answered ${status}`]
    paged.push(...body.items)
    token = body.metadata.continue ?? ''
    if (token === '') break
  }
  const broken = []
  if (JSON.stringify(paged) !== JSON.stringify(whole.body.items))
    broken.push(`${path}: the list differs from its pages`)
  const watched = await client.send({
    method: 'GET',
    path: `${path}?watch=true&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
  })
  const events = watched.raw
    .toString()
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line))
    .filter(({ type }) => type === 'ADDED')
  if (
    JSON.stringify(events.map(nameOf).toSorted()) !==
    JSON.stringify(whole.body.items.map(object => nameOf({ object })).toSorted())
  ) {
    broken.push(`${path}: a watch from the beginning differs from the list`)
  }
  return broken
}

const nameOf = ({ object }) =>
  `${object.metadata.namespace ?? ''}/${object.metadata.name}@${object.metadata.resourceVersion}`
