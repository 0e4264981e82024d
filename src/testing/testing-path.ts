/** Where the testing API is. */
export const TESTING_PATH = '/binnacle/testing'
