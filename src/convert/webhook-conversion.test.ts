import { expect, it } from 'vitest'
import type { VersionedObject } from './conversion.js'
import { convertByWebhook } from './webhook-conversion.js'

interface Review {
  readonly request: { readonly uid: string; readonly desiredAPIVersion: string; readonly objects: VersionedObject[] }
}

function converter() {
  const reviews: Review[] = []
  const post = async (_: unknown, body: string): Promise<Buffer> => {
    const review = JSON.parse(body) as Review
    reviews.push(review)
    const { uid, desiredAPIVersion, objects } = review.request
    const convertedObjects = objects.map(each => Object.assign(each, { apiVersion: desiredAPIVersion }))
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

it('asks once for many objects, without their resourceVersions, which they keep', async () => {
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

it('asks again for what would be too much at once', async () => {
  const { convert, reviews } = converter()
  const many = Array.from({ length: 1001 }, (_, i) => object(`${i}`))
  expect(await convert(many, 'g/v2')).toHaveLength(1001)
  expect(reviews.map(({ request }) => request.objects.length)).toEqual([500, 500, 1])
  reviews.length = 0
  await convert([object('a', 5 << 20), object('b', 5 << 20), object('c')], 'g/v2')
  expect(reviews.map(({ request }) => request.objects.length)).toEqual([1, 2])
})

it('fails where no version of reviews is known', async () => {
  const convert = convertByWebhook(
    { post: async () => Buffer.from(''), close: () => {} },
    { clientConfig: {}, conversionReviewVersions: ['v9'] },
  )
  await expect(async () => convert([object('a')], 'g/v2')).rejects.toThrow('conversion webhook for g/v1, Kind=K failed')
})
