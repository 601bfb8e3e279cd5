#pragma once
#include <curl/curl.h>

/* curl_easy_setopt and curl_easy_getinfo are variadic, which Swift does not import. */
static inline CURLcode CCurl_setNumber(CURL *handle, CURLoption option, long value)
{
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode CCurl_setPointer(CURL *handle, CURLoption option, void *value)
{
    return curl_easy_setopt(handle, option, value);
}

/* libcurl copies the text. */
static inline CURLcode CCurl_setText(CURL *handle, CURLoption option, const char *value)
{
    return curl_easy_setopt(handle, option, value);
}

/* libcurl copies the bytes. */
static inline CURLcode CCurl_setBytes(CURL *handle, CURLoption option, const void *bytes, size_t count)
{
    struct curl_blob blob = {(void *)bytes, count, CURL_BLOB_COPY};
    return curl_easy_setopt(handle, option, &blob);
}

static inline CURLcode CCurl_setCallback(CURL *handle, CURLoption option, curl_write_callback value)
{
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode CCurl_setProgressCallback(CURL *handle, curl_xferinfo_callback value)
{
    curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
    return curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, value);
}

static inline long CCurl_status(CURL *handle)
{
    long status = 0;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

/* Swift does not import the macro CURL_GLOBAL_DEFAULT. */
static inline CURLcode CCurl_initialize(void)
{
    return curl_global_init(CURL_GLOBAL_DEFAULT);
}
