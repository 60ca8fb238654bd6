/* SPDX-License-Identifier: GPL-3.0-or-later */
/* forms.c -- fills out forms with what a database knows of people.
 *
 *	forms [SCALE]
 *
 * Figure 1 of Hall & Goldberg 1993.  address_information asks db_get_property
 * for four properties of one person, and each time db_read_record reads and
 * parses the same block of the file.  No function is badly written and none
 * of the five forms stands out, but the call path (address_information
 * db_get_property db_read_record) has two thirds of the time: keeping the
 * block would save three quarters of that.
 *
 * SCALE 1, the default, takes about three seconds.  The same SCALE prints the
 * same text.  The database is a temporary file in $TMPDIR, unlinked at once.
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A frame of its own on the stack: not inlined, not cloned. */
#ifdef __clang__
#define OWN_FRAME __attribute__((noinline))
#else
#define OWN_FRAME __attribute__((noipa))
#endif

enum {
	N_PEOPLE = 500,
	BLOCK_SIZE = 16384,
	MAX_PROPERTIES = 1024,
	PEOPLE_SERVED = 6000,	/* at SCALE 1 */
};

/* "key: value", two pieces of the block read last. */
struct property {
	const char *key, *value;
	size_t key_length, value_length;
};

struct db {
	int fd, n_properties;
	char block[BLOCK_SIZE];
	struct property properties[MAX_PROPERTIES];
};

struct value {
	char text[64];
};

struct address {
	struct value name, street, city, phone;
};

static uint64_t forms_checksum = 0xcbf29ce484222325;

/* Reads a person's block and splits it; a control character is damage. */
static void OWN_FRAME
db_read_record(struct db *db, int person)
{
	const char *line = db->block, *colon = NULL;

	if (pread(db->fd, db->block, BLOCK_SIZE, (off_t)person * BLOCK_SIZE) !=
	    BLOCK_SIZE)
		err(1, "cannot read record %d", person);
	db->n_properties = 0;
	for (const char *p = line; p < db->block + BLOCK_SIZE; p++) {
		if (*p == ':' && colon == NULL)
			colon = p;
		if ((unsigned char)*p >= ' ')
			continue;
		if (*p != '\n' || colon == NULL ||
		    db->n_properties == MAX_PROPERTIES)
			errx(1, "record %d is damaged", person);
		db->properties[db->n_properties++] = (struct property){
			line, colon + 2, colon - line, p - (colon + 2)
		};
		line = p + 1;
		colon = NULL;
	}
}

/* In the record read last. */
static inline const struct property *
find_property(const struct db *db, const char *key)
{
	size_t length = strlen(key);

	for (int i = 0; i < db->n_properties; i++)
		if (db->properties[i].key_length == length &&
		    memcmp(db->properties[i].key, key, length) == 0)
			return &db->properties[i];
	errx(1, "no property %s", key);
}

static struct value OWN_FRAME
db_get_property(struct db *db, int person, const char *key)
{
	const struct property *property;
	struct value value;

	db_read_record(db, person);
	property = find_property(db, key);
	snprintf(value.text, sizeof value.text, "%.*s",
	         (int)property->value_length, property->value);
	return value;
}

/* Adds one to a number of fixed width, where it stands in the file. */
static void OWN_FRAME
db_update_record(struct db *db, int person, const char *key)
{
	const struct property *property;
	char number[32];
	off_t offset;

	db_read_record(db, person);
	property = find_property(db, key);
	offset = (off_t)person * BLOCK_SIZE + (property->value - db->block);
	snprintf(number, sizeof number, "%0*ld", (int)property->value_length,
	         strtol(property->value, NULL, 10) + 1);
	if (pwrite(db->fd, number, property->value_length, offset) !=
	    (ssize_t)property->value_length)
		err(1, "cannot write record %d", person);
}

static struct address OWN_FRAME
address_information(struct db *db, int person)
{
	struct address address;

	address.name = db_get_property(db, person, "name");
	address.street = db_get_property(db, person, "street");
	address.city = db_get_property(db, person, "city");
	address.phone = db_get_property(db, person, "phone");
	return address;
}

/* All that is left of a form is its part of the checksum. */
static void
print_form(const char *title, const struct address *to,
           const struct value *what)
{
	char text[6 * sizeof what->text];

	snprintf(text, sizeof text, "%s\n%s\n%s\n%s\n%s\n%s\n", title,
	         to->name.text, to->street.text, to->city.text, to->phone.text,
	         what->text);
	for (const char *p = text; *p != '\0'; p++)
		forms_checksum = (forms_checksum ^ (unsigned char)*p) *
		                 0x100000001b3;
}

static void OWN_FRAME
invoice(struct db *db, int person)
{
	struct address to = address_information(db, person);
	struct value balance = db_get_property(db, person, "balance");

	print_form("Invoice", &to, &balance);
}

static void OWN_FRAME
loan_application(struct db *db, int person)
{
	struct address to = address_information(db, person);
	struct value income = db_get_property(db, person, "income");

	print_form("Application for a loan", &to, &income);
}

static void OWN_FRAME
envelope(struct db *db, int person)
{
	struct address to = address_information(db, person);
	struct value country = db_get_property(db, person, "country");

	print_form("By air mail", &to, &country);
}

static void OWN_FRAME
form_US_1040(struct db *db, int person)
{
	struct address to = address_information(db, person);
	struct value income = db_get_property(db, person, "taxable_income");

	print_form("Form 1040", &to, &income);
}

static void OWN_FRAME
form_NJ_1040(struct db *db, int person)
{
	struct address to = address_information(db, person);
	struct value tax = db_get_property(db, person, "property_tax");

	print_form("Form NJ-1040", &to, &tax);
}

/* People whom somebody has written to very often. */
static void OWN_FRAME
make_database(struct db *db)
{
	const char *folder = getenv("TMPDIR");
	char path[4096];

	snprintf(path, sizeof path, "%s/formsXXXXXX", folder ? folder : "/tmp");
	db->fd = mkstemp(path);
	if (db->fd < 0 || unlink(path) != 0)
		err(1, "%s", path);
	for (int person = 0; person < N_PEOPLE; person++) {
		char *p = db->block, *last = db->block + BLOCK_SIZE - 1;

		p += sprintf(p, "name: Person %d\nstreet: %d Mountain Avenue\n"
		             "city: Murray Hill\nphone: +1 908 555 %04d\n"
		             "country: USA\nbalance: %d\nincome: %d\n"
		             "taxable_income: %d\nproperty_tax: %d\n"
		             "bills: 0000\nloans: 0000\nletters: 0000\n"
		             "returns: 0000\n", person, person % 90 + 1, person,
		             person * 37 % 1000, 20000 + person * 91 % 70000,
		             18000 + person * 83 % 60000, person * 13 % 9000);
		for (int letter = 0; last - p > 100; letter++)
			p += sprintf(p, "letter_%d: filed in drawer %d\n",
			             letter, (person + letter) % 97);
		memset(p, '.', last - p);
		memcpy(p, "rest: ", 6);
		*last = '\n';
		if (write(db->fd, db->block, BLOCK_SIZE) != BLOCK_SIZE)
			err(1, "%s", path);
	}
}

int
main(int argc, char **argv)
{
	static struct db db;
	double scale = argc > 1 ? strtod(argv[1], NULL) : 1;
	int n_served;

	if (argc > 2 || !(scale > 0 && scale <= 10000)) {
		fprintf(stderr, "usage: forms [SCALE]\n");
		return 2;
	}
	n_served = (int)(scale * PEOPLE_SERVED);
	make_database(&db);
	for (int i = 0; i < n_served; i++) {
		int person = i % N_PEOPLE;
		invoice(&db, person);
		loan_application(&db, person);
		envelope(&db, person);
		form_US_1040(&db, person);
		form_NJ_1040(&db, person);
		db_update_record(&db, person, "bills");
		db_update_record(&db, person, "loans");
		db_update_record(&db, person, "letters");
		db_update_record(&db, person, "returns");
	}
	printf("%d people served, checksum %016" PRIx64 "\n", n_served,
	       forms_checksum);
	return 0;
}
