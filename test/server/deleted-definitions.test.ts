// Of a definition that was deleted, and of its schema, a server keeps nothing, however it was used.
import * as v8 from 'node:v8'
import { expect, test } from 'vitest'
import { parseSchema } from '../../src/schema/structure/structural.js'
import { partType } from '../../src/schema/structure/structural-type.js'
import { startBinnacle } from '../../src/testing/index.js'
import { builtinTypes } from '../../src/types/type-table.js'

const DEFINITIONS = 10
/** The class of the types of custom objects, of which a kind has many. */
const { constructor: structuralType } = partType(builtinTypes(), parseSchema({ type: 'object' }))
/** How many there are in this process once all that can be freed is. Not every release of Node can say it. */
const { queryObjects } = v8 as { queryObjects?: (of: unknown, options: { format: 'count' }) => number }
const countTypes = (): number => queryObjects!(structuralType, { format: 'count' })

const definition = (i: number, more: object = {}) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `things${i}.example.com` },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: `things${i}`, singular: `thing${i}`, kind: `Thing${i}`, listKind: `Thing${i}List` },
    versions: ['v1', 'v2'].map(name => ({
      name,
      served: true,
      storage: name === 'v1',
      subresources: { status: {} },
      additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
      selectableFields: [{ jsonPath: '.spec.color' }],
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: {
            spec: {
              type: 'object',
              'x-kubernetes-validations': [{ rule: 'self.size >= 0 && oldSelf.size <= self.size', message: 'grows' }],
              properties: {
                size: { type: 'integer', default: 1 },
                color: { type: 'string', pattern: `^[a-z]+${i}?$` },
                list: { type: 'array', maxItems: 5, items: { type: 'object', properties: { a: { type: 'string' } } } },
                ...more,
              },
            },
          },
        },
      },
    })),
  },
})

test.skipIf(!queryObjects)('nothing is kept of definitions that were deleted', async () => {
  await using server = await startBinnacle({ protocol: 'http' })
  const send = async (path: string, method = 'GET', body?: object, headers: Record<string, string> = {}) => {
    const answer = await server.fetch(path, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    expect([path, answer.status < 300 || text]).toEqual([path, true])
    return text
  }
  const use = async (i: number): Promise<void> => {
    await send('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', 'POST', definition(i))
    for (const version of ['v1', 'v2']) {
      const apiVersion = `example.com/${version}`
      const path = `/apis/${apiVersion}/namespaces/default/things${i}`
      const object = {
        apiVersion,
        kind: `Thing${i}`,
        metadata: { name: `a-${version}` },
        spec: { size: 3, color: 'red' },
      }
      const one = `${path}/a-${version}`
      await send(path, 'POST', object)
      await send(one, 'PATCH', { spec: { size: 4 } }, { 'content-type': 'application/merge-patch+json' })
      const applied = { ...object, spec: { list: [{ a: 'x' }] } }
      await send(`${one}?fieldManager=m`, 'PATCH', applied, { 'content-type': 'application/apply-patch+yaml' })
      await send(`${one}/status`, 'PUT', JSON.parse(await send(one)))
      for (const query of ['', '', '?limit=1', '?limit=1', '?fieldSelector=spec.color%3Dred', '?labelSelector=a']) {
        await send(path + query)
        await send(path + query, 'GET', undefined, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' })
      }
      await send(`${path}?watch=true&timeoutSeconds=1&resourceVersion=0`)
      await send(`/openapi/v3/apis/${apiVersion}`)
    }
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things${i}.example.com`
    const changed = definition(i, { added: { type: 'boolean' } }).spec
    await send(path, 'PATCH', { spec: changed }, { 'content-type': 'application/merge-patch+json' })
    await send(`/apis/example.com/v1/namespaces/default/things${i}`)
    await send(path, 'DELETE')
  }
  const before = countTypes()
  await Promise.all(Array.from({ length: DEFINITIONS }, (_, i) => use(i)))
  await expect
    .poll(async () => {
      // What was published of the kinds is replaced when it is next requested.
      for (const path of ['/apis', '/openapi/v2', '/openapi/v3']) await send(path)
      return countTypes() - before
    })
    .toBe(0)
})
