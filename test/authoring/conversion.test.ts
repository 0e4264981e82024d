// Described conversions: the checks of their totality and round trips, and the webhook that serves them.
import { expect, test } from 'vitest'
import { checkConversion } from '../../src/authoring/check-conversion.js'
import { answerReview } from '../../src/authoring/conversion-webhook.js'
import { acceptDefinitions } from '../../src/authoring/definitions.js'
import { documentsIn, widgetDefinition } from '../../src/authoring/text-documents.suite.js'

const spec = (properties: object): object => ({ type: 'object', properties })
const V1 = spec({ size: { type: 'integer' }, name: { type: 'string' } })
const V2 = spec({ height: { type: 'integer' }, name: { type: 'string' } })

async function accepted(description: string | undefined, schemas: Record<string, object>) {
  const definition = JSON.parse(widgetDefinition(schemas)) as { metadata: object }
  const annotations = description === undefined ? {} : { 'binnacle.dev/conversion': description }
  Object.assign(definition.metadata, { annotations })
  const { accepted: all, api } = await acceptDefinitions(documentsIn(JSON.stringify(definition)))
  return { definition: all[0]!, api, kind: api.registry.findKind('example.com', 'Widget')! }
}

async function check(description: string | undefined, schemas: Record<string, object>): Promise<string[]> {
  const { definition, kind } = await accepted(description, schemas)
  return (await checkConversion(definition, kind)).map(({ rule, message }) => `${rule}: ${message}`)
}

const MOVE = '[{from: v1, to: v2, steps: [{move: spec.size, to: spec.height}]}]'

test.each<[string, string | undefined, Record<string, object>, string[]]>([
  ['one that loses nothing', MOVE, { v1: V1, v2: V2 }, []],
  ['one version', undefined, { v1: V1 }, []],
  ['none', undefined, { v1: V1, v2: V2 }, ['no-conversion: no conversion is described']],
  [
    'one that is wrong',
    '{}',
    { v1: V1, v2: V2 },
    ['wrong-conversion: it must be a list of conversions, each with from, to and steps'],
  ],
  [
    'one that does not reach a version',
    MOVE,
    { v1: V1, v2: V2, v3: V1 },
    ['v1 to v3', 'v2 to v3', 'v3 to v1', 'v3 to v2'].map(pair => `no-way: there is no conversion from ${pair}`),
  ],
  [
    'one that loses a field of either version',
    '[{from: v1, to: v2, steps: []}]',
    { v1: V1, v2: V2 },
    [
      'lossy: from v1 to v2 and back, these fields are lost or changed: spec.size',
      'lossy: from v2 to v1 and back, these fields are lost or changed: spec.height',
    ],
  ],
  [
    'one whose expression fails for some objects',
    '[{from: v1, to: v2, steps: [{set: spec.name, expression: self.spec.name}]}]',
    { v1: spec({ name: { type: 'string' } }), v2: spec({ name: { type: 'string' } }) },
    [
      expect.stringMatching(/^conversion-fails: from v1 to v2 and back: .*no such key/) as string,
      expect.stringMatching(/^lossy: from v1/) as string,
      expect.stringMatching(/^conversion-fails: from v2/) as string,
    ],
  ],
])('finds in a conversion: %s', async (_, description, schemas, expected) => {
  expect(await check(description, schemas)).toEqual(expected)
})

const review = (objects: object[], to: string): Buffer =>
  Buffer.from(
    JSON.stringify({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'ConversionReview',
      request: { uid: 'u', desiredAPIVersion: `example.com/${to}`, objects },
    }),
  )

const object = (version: string, its: object): object => ({
  apiVersion: `example.com/${version}`,
  kind: 'Widget',
  metadata: { name: 'a', uid: 'x' },
  spec: its,
})

test('the webhook answers a ConversionReview, and refuses what it cannot convert', async () => {
  const { api } = await accepted(MOVE, { v1: V1, v2: V2 })
  expect(JSON.parse(await answerReview(api, review([object('v1', { size: 3 })], 'v2')))).toEqual({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'ConversionReview',
    response: { uid: 'u', result: { status: 'Success' }, convertedObjects: [object('v2', { height: 3 })] },
  })
  const failed = JSON.parse(await answerReview(api, review([object('v1', {})], 'v9'))) as {
    response: { result: object }
  }
  expect(failed.response.result).toEqual({
    status: 'Failure',
    message: expect.stringContaining('no conversion from example.com/v1 to example.com/v9') as string,
  })
  await expect(answerReview(api, Buffer.from('{'))).rejects.toThrow(
    'the body must be a ConversionReview with a request',
  )
})
