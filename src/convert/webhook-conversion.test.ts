import { expect, it } from 'vitest'
import type { VersionedObject } from './conversion.js'
import { convertByWebhook } from './webhook-conversion.js'

interface Review {
  readonly request: { readonly uid: string; readonly desiredAPIVersion: string; readonly objects: VersionedObject[] }
}

/** `answer` creates the response for the objects, in their order. */
function converter(answer = (objects: VersionedObject[]): VersionedObject[] => objects) {
  const reviews: Review[] = []
  const post = async (_: unknown, body: string): Promise<Buffer> => {
    const review = JSON.parse(body) as Review
    reviews.push(review)
    const { uid, desiredAPIVersion, objects } = review.request
    const convertedObjects = answer(objects.map(each => Object.assign(each, { apiVersion: desiredAPIVersion })))
    return Buffer.from(
      JSON.stringify({ ...review, response: { uid, result: { status: 'Success' }, convertedObjects } }),
    )
  }
  const webhook = { clientConfig: {}, conversionReviewVersions: ['v1'] }
  return { reviews, convert: convertByWebhook({ post, close: () => {} }, webhook) }
}

const object = (name: string, size = 0): VersionedObject => ({
  apiVersion: 'g/v1',
  kind: 'K',
  metadata: { name, resourceVersion: '7' },
  text: 'x'.repeat(size),
})

it('makes one call for many objects, without their resourceVersions, which are restored', async () => {
  const { convert, reviews } = converter()
  const converted = await convert([object('a'), object('b')], 'g/v2')
  expect(converted).toEqual([
    { ...object('a'), apiVersion: 'g/v2' },
    { ...object('b'), apiVersion: 'g/v2' },
  ])
  expect(reviews.map(({ request }) => request.objects.map(({ metadata }) => metadata))).toEqual([
    [{ name: 'a' }, { name: 'b' }],
  ])
})

it('splits large requests into several calls', async () => {
  const { convert, reviews } = converter()
  const many = Array.from({ length: 1001 }, (_, i) => object(`${i}`))
  expect(await convert(many, 'g/v2')).toHaveLength(1001)
  expect(reviews.map(({ request }) => request.objects.length)).toEqual([500, 500, 1])
  reviews.length = 0
  await convert([object('a', 5 << 20), object('b', 5 << 20), object('c')], 'g/v2')
  expect(reviews.map(({ request }) => request.objects.length)).toEqual([1, 2])
})

it.each([
  ['answers in another order', (objects: VersionedObject[]) => objects.toReversed()],
  ['answers for the first only', (objects: VersionedObject[]) => objects.slice(0, 1)],
])('calls a webhook for each object if it %s', async (_, answer) => {
  const { convert, reviews } = converter(answer)
  const names = async () => (await convert([object('a'), object('b')], 'g/v2')).map(({ metadata }) => metadata['name'])
  expect(await names()).toEqual(['a', 'b'])
  expect(await names()).toEqual(['a', 'b'])
  // Only the first call has many objects.
  expect(reviews.map(({ request }) => request.objects.length)).toEqual([2, 1, 1, 1, 1])
})

it('fails if one object cannot be converted, and sends many again the next time', async () => {
  const { convert, reviews } = converter(objects => objects.filter(({ metadata }) => metadata['name'] !== 'b'))
  const attempt = async () => convert([object('a'), object('b')], 'g/v2')
  await expect(attempt).rejects.toThrow('conversion webhook for g/v1, Kind=K returned 0 objects, expected 1')
  reviews.length = 0
  await expect(attempt).rejects.toThrow('returned 0 objects, expected 1')
  expect(reviews[0]!.request.objects).toHaveLength(2)
})

it('fails if no review version is supported', async () => {
  const convert = convertByWebhook(
    { post: async () => Buffer.from(''), close: () => {} },
    { clientConfig: {}, conversionReviewVersions: ['v9'] },
  )
  await expect(async () => convert([object('a')], 'g/v2')).rejects.toThrow('conversion webhook for g/v1, Kind=K failed')
})

it('does not call a webhook for each object again that failed for a single one too', async () => {
  const { convert, reviews } = converter(() => [])
  const attempt = async () => convert([object('a'), object('b'), object('c')], 'g/v2')
  await expect(attempt).rejects.toThrow('returned 0 objects, expected 1')
  await expect(attempt).rejects.toThrow('returned 0 objects, expected 1')
  expect(reviews.map(({ request }) => request.objects.length)).toEqual([3, 1, 1])
})

it('converts objects together again once a webhook that was broken works for a single one', async () => {
  let isBroken = true
  const { convert, reviews } = converter(objects => (isBroken ? [] : objects))
  const attempt = async () => convert([object('a'), object('b'), object('c')], 'g/v2')
  await expect(attempt).rejects.toThrow('expected 1')
  isBroken = false
  expect(await attempt()).toHaveLength(3)
  expect(reviews.map(({ request }) => request.objects.length)).toEqual([3, 1, 1, 2])
})
