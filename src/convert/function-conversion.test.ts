import { expect, it } from 'vitest'
import { convertByFunction } from './function-conversion.js'

const OBJECT = { apiVersion: 'g/v1', kind: 'K', metadata: { name: 'a' }, spec: { x: 1 } }
const CONVERTED = { ...OBJECT, apiVersion: 'g/v2', spec: { x: 2 } }

it('is synchronous if the function is, and does not change the object', () => {
  const convert = convertByFunction((object, to) => {
    object['spec'] = { x: 2 }
    return { ...object, apiVersion: to }
  })
  expect(convert([OBJECT, OBJECT], 'g/v2')).toEqual([CONVERTED, CONVERTED])
  expect(OBJECT.spec).toEqual({ x: 1 })
})

it('waits for asynchronous functions', async () => {
  const convert = convertByFunction(async (object, to) => ({ ...object, apiVersion: to, spec: { x: 2 } }))
  expect(await convert([OBJECT], 'g/v2')).toEqual([CONVERTED])
})

it.each([
  [
    'failed: out of luck',
    () => {
      throw new Error('out of luck')
    },
  ],
  [
    'failed: out of luck',
    async () => {
      throw new Error('out of luck')
    },
  ],
  ['returned invalid object at index 0: invalid groupVersion', () => OBJECT],
  ['returned invalid object at index 0: invalid groupVersion', async () => OBJECT],
])('sends the error to clients: %s', async (message, convert) => {
  const run = async () => convertByFunction(convert)([OBJECT], 'g/v2')
  await expect(run).rejects.toThrow(`conversion function for g/v1, Kind=K ${message}`)
})
