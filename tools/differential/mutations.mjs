// Changes JSON values: nearly valid and hostile ones are made from valid ones.

const HOSTILE = [
  null,
  true,
  false,
  0,
  1,
  -1,
  1.5,
  1e21,
  9007199254740991,
  -2147483649,
  '',
  ' ',
  'a',
  'A',
  '-',
  'a'.repeat(64),
  'a'.repeat(254),
  '0',
  '1.0',
  'true',
  '\u0000',
  'ä',
  '😀',
  '<&>',
  'a/b',
  'a.b',
  '..',
  '*',
  '100m',
  '1Gi',
  '-5',
  '2024-01-02T03:04:05Z',
  '10.0.0.1',
  'http://x',
  '{}',
  [],
  {},
  [null],
  [{}],
  { a: null },
  ['a', 'a'],
  { '': 1 },
]

export const hostileValue = random => structuredClone(random.pick(HOSTILE))

/** Every place in a value, as `{ holder, key }`. */
export function placesOf(value, places = []) {
  if (value === null || typeof value !== 'object') return places
  for (const key of Object.keys(value)) {
    places.push({ holder: value, key })
    placesOf(value[key], places)
  }
  return places
}

/** A changed copy of a value. */
export function mutate(random, value, count = 1) {
  const copy = structuredClone(value)
  for (let i = 0; i < count; i++) {
    const places = placesOf(copy)
    if (places.length === 0) return hostileValue(random)
    change(random, random.pick(places))
  }
  return copy
}

function change(random, { holder, key }) {
  const value = holder[key]
  const kind = random.weighted([
    [4, 'near'],
    [3, 'hostile'],
    [2, 'remove'],
    [1, 'repeat'],
    [1, 'unknown'],
    [1, 'rename'],
    [1, 'swap'],
  ])
  switch (kind) {
    case 'near':
      holder[key] = nearby(random, value)
      break
    case 'hostile':
      holder[key] = hostileValue(random)
      break
    case 'remove':
      if (Array.isArray(holder)) holder.splice(Number(key), 1)
      else delete holder[key]
      break
    case 'repeat':
      if (Array.isArray(holder)) holder.push(structuredClone(value))
      else if (Array.isArray(value) && value.length > 0) value.push(structuredClone(random.pick(value)))
      else holder[key] = [value]
      break
    case 'unknown':
      if (value !== null && typeof value === 'object' && !Array.isArray(value))
        value.unknownField = hostileValue(random)
      else holder[key] = { unknownField: value }
      break
    case 'rename':
      if (Array.isArray(holder)) holder.reverse()
      else {
        delete holder[key]
        holder[random.pick([key.toUpperCase(), `${key}s`, key[0]?.toUpperCase() + key.slice(1)])] = value
      }
      break
    case 'swap': {
      const other = random.pick(Object.keys(holder))
      ;[holder[key], holder[other]] = [holder[other], holder[key]]
    }
  }
}

/** A value of the same type that differs a little. */
function nearby(random, value) {
  if (typeof value === 'number')
    return random.pick([value + 1, value - 1, -value, value * 1000, value + 0.5, String(value)])
  if (typeof value === 'boolean') return random.pick([!value, String(value), null])
  if (typeof value === 'string') {
    return random.pick([
      `${value}x`,
      value.slice(1),
      value.toUpperCase(),
      '',
      `${value} `,
      value + value,
      `-${value}`,
      `${value}.`,
      null,
    ])
  }
  if (Array.isArray(value)) return random.pick([[], [...value, ...value], value.toReversed(), value.slice(1), null])
  if (value !== null && value !== undefined) {
    return random.pick([
      {},
      null,
      { ...value, ...Object.fromEntries(Object.keys(value).map(name => [name, null])) },
      [value],
    ])
  }
  return random.pick(['', 0, {}, []])
}

/** JSON with a member written twice. */
export function withDuplicate(random, value) {
  const text = JSON.stringify(value)
  const members = [...text.matchAll(/"([A-Za-z]+)":("[^"{}[\]]*"|\d+|true|false)/g)]
  if (members.length === 0) return text
  const [member] = random.pick(members)
  return text.replace(member, `${member},${member}`)
}
