// Answers of webhooks that the address describes: /admit/give/<base64url of JSON> or /convert/give/…. Members of the JSON:
//   status, type, raw   the HTTP status, content type and text of the answer
//   delayMs, reset      wait; break off the connection
//   review, uid         members of the review and a uid that stand in the place of the right ones; null leaves them out
//   response            members of the response
//   each                { set: { "/pointer": value }, remove: ["/pointer"] }, for each converted object
//   objects             reversed, fewer, more, none, unconverted
//   pad                 adds a member of so many characters

export const pathOfAnswer = (family, spec) =>
  `/${family}/give/${Buffer.from(JSON.stringify(spec)).toString('base64url')}`

/** What to answer a review: `{ status, headers, body, delayMs, reset }`. */
export function givenAnswer(family, argument, review) {
  const spec = JSON.parse(Buffer.from(argument, 'base64url'))
  const { status = 200, type = 'application/json', raw, delayMs, reset } = spec
  const body = raw ?? JSON.stringify(reviewOf(spec, family, review))
  return { status, headers: type === null ? {} : { 'content-type': type }, body, delayMs, reset }
}

function reviewOf({ review = {}, uid, response, pad, ...spec }, family, { apiVersion, kind, request }) {
  const usual =
    family === 'convert'
      ? { result: { status: 'Success' }, convertedObjects: converted(spec, request) }
      : { allowed: true }
  const answer = response === null ? null : { uid: uid === undefined ? request.uid : uid, ...usual, ...response }
  if (uid === null && answer) delete answer.uid
  return withoutUndefined({ apiVersion, kind, response: answer, ...(pad && { pad: 'x'.repeat(pad) }), ...review })
}

const withoutUndefined = object => Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null))

function converted({ each = {}, objects }, { desiredAPIVersion, objects: given }) {
  const all = given.map(object =>
    changed(objects === 'unconverted' ? object : { ...object, apiVersion: desiredAPIVersion }, each),
  )
  switch (objects) {
    case 'reversed':
      return all.toReversed()
    case 'fewer':
      return all.slice(1)
    case 'more':
      return [...all, ...all.slice(0, 1)]
    case 'none':
      return null
    default:
      return all
  }
}

function changed(object, { set = {}, remove = [] }) {
  const copy = structuredClone(object)
  for (const [pointer, value] of Object.entries(set)) holderOf(copy, pointer, (holder, key) => (holder[key] = value))
  for (const pointer of remove) holderOf(copy, pointer, (holder, key) => delete holder[key])
  return copy
}

/** Calls with the object that holds the last member of a pointer, if there is one. */
function holderOf(root, pointer, change) {
  const keys = pointer.split('/').slice(1)
  const holder = keys.slice(0, -1).reduce((value, key) => value?.[key], root)
  if (holder !== null && typeof holder === 'object') change(holder, keys.at(-1))
}
